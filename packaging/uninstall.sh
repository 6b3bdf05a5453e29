#!/bin/sh
# `./install.sh uninstall`: hooks first, the program last, so that no hook names a missing one.
set -eu

usage() {
	cat <<-'EOF'
		usage: ./install.sh uninstall [--purge] [--prefix DIR] [--dry-run]

		Takes policyd out of all repositories, which are then as they were before, and off
		this machine. Home and state stay.

		  --purge   home and state go too: policies, decision log and all
	EOF
}

# shellcheck source=packaging/steps.sh
. "$(dirname "$0")/steps.sh"
# shellcheck source=packaging/program.sh
. "$checkout/packaging/program.sh"
# shellcheck source=packaging/unit.sh
. "$checkout/packaging/unit.sh"

purge=

read_arguments() {
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help) helped ;;
		--purge) purge=yes ;;
		--dry-run) dry=yes ;;
		--prefix)
			[ $# -gt 1 ] || misused "--prefix needs a value"
			prefix=$(absolute "$2") || exit
			shift
			;;
		*) misused "unknown argument $1" ;;
		esac
		shift
	done
}

unenroll_all() {
	for path in "$@"; do
		step "unenrolling $path" || continue
		policyd unenroll "$path" ||
			die "$path still has the hook, and the program stays for it; mend that and run this again"
	done
}

# Hooks for many repositories. They are noted first: once nothing is enrolled nobody knows them.
note_shared() {
	[ -z "$dry" ] || return 0
	facts shared "$home" "$state" >>"$opt/.shared" || die "the hooks of all cannot be listed"
}

unenroll_shared() {
	for folder in "$@"; do
		[ -n "$(shared_left "$folder")" ] || continue
		say "taking the hook of all out of $folder"
		policyd unenroll --hooks-path "$folder" || :
		left=$(shared_left "$folder")
		[ -z "$left" ] || die "$left still names the program, which stays for it; mend that and" \
			"run this again"
	done
}

# grep's exit code tells of files that are absent, too.
shared_left() {
	grep -lsF -- "$current" "$1/pre-receive" "$1/policyd" "$1/pre-receive.d/policyd" || :
}

# Hooks of ours below the roots that the state folder does not know of: it was lost, or replaced.
hooks_left() {
	for root in "$@"; do
		[ -d "$root" ] || continue
		find "$root" -type d -name objects -prune -o -type f -path '*hooks*' \
			-exec grep -lF -- "$current" {} + 2>/dev/null || :
	done
}

demand_no_hook() {
	[ -z "$dry" ] || return 0
	left=$(with_each "$(facts roots "$home" 2>/dev/null || :)" hooks_left)
	[ -z "$left" ] || die "these still name the program, which stays for them; \
\`policyd unenroll\` their repositories, then run this again:$newline$left"
}

# A push that began with the hook in place ends with its program.
wait_for_processes() {
	[ -z "$dry" ] || return 0
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		# From a pipe: named on grep's own command line, it would find itself.
		# shellcheck disable=SC2062  # these are the files
		running=$(printf '%s\n' "$current" | grep -lsF -f - /proc/[0-9]*/cmdline | tr -dc '0-9\n')
		[ -n "$running" ] || return 0
		sleep 0.5
	done
	warn "these processes of it run on, end them:" "$running"
}

take_program_out() {
	step "taking the program out, $opt" || return 0
	[ "$(readlink "$link")" != "$opt/bin/policyd" ] || rm -f "$link"
	# The link goes last but for the lock: as long as it is there, a second run knows the way.
	rm -rf "${opt:?}/bin" "$opt/.build" "$opt/.upgrade" "$opt/.defaults"
	rm -f "$opt/current"
	rm -rf "$opt"
}

# Only what lies where this installer puts it: policyd.yaml may name any folder.
take_rest_out() {
	if [ -z "$purge" ]; then
		say "kept: $home and $state; --purge takes them too"
		return
	fi
	step "taking home and state out: $home $state" || return 0
	rm -rf "$home" "$state"
}

read_arguments "$@"
demand_root ./install.sh uninstall "$@"
name_places
if [ -x "$current" ]; then
	python=$current
	take_turn
	list=$(facts enrolled "$home" "$state") || die "the enrolled repositories cannot be listed"
	note_shared
	with_each "$list" unenroll_all
	[ -n "$dry" ] || with_each "$(sort -u "$opt/.shared")" unenroll_shared
	demand_no_hook
	take_unit_out
	wait_for_processes
	take_program_out
elif [ -e "$opt" ] || [ -e "$unit" ]; then
	say "no program is in force at $opt"
	take_unit_out
	take_program_out
else
	say "policyd is not installed at $opt"
fi
take_rest_out
[ -z "$trouble" ] || exit 1
