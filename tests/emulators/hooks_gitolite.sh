#!/bin/sh
# As gitolite's multi-hook-driver: runs the links beside hooks/pre-receive that end in a number
# and a name; the first that fails ends it.
push=$(cat)
for link in "$0".*; do
	[ -x "$link" ] || continue
	printf '%s\n' "$push" | "$link" || exit 1
done
