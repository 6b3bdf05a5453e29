#!/bin/sh
# As Gitea's hooks/pre-receive: each program in the repository's pre-receive.d gets the whole
# push, all of them run whatever the others say, and the first that refuses decides.
push=$(cat)
decided=0
for program in "$GIT_DIR"/hooks/pre-receive.d/*; do
	if [ -f "$program" ] && [ -x "$program" ]; then
		printf '%s\n' "$push" | "$program"
		said=$?
		if [ $decided -eq 0 ]; then decided=$said; fi
	fi
done
exit $decided
