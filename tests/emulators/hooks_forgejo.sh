#!/bin/sh
# As the hook that Forgejo shares among repositories: each program beside it gets the whole
# push, all of them run whatever the others say, and the first that refuses decides.
push=$(cat)
decided=0
for program in "$(dirname "$0")"/pre-receive.d/*; do
	if [ -f "$program" ] && [ -x "$program" ]; then
		printf '%s\n' "$push" | "$program"
		said=$?
		if [ $decided -eq 0 ]; then decided=$said; fi
	fi
done
exit $decided
