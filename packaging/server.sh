#!/bin/sh
# `./install.sh server`: program, home, state and daemon onto this machine, hooks into its
# repositories. Each step leaves a server whose pushes work; run again, it goes on where it ended.
set -eu

usage() {
	cat <<-'EOF'
		usage: ./install.sh server [--repo PATH...] [--root DIR...] [--user NAME]
		           [--server plain|gitolite|gitea|gitlab] [--wheels DIR] [--prefix DIR]
		           [--dry-run]

		  --repo    bare repositories whose pushes are to be judged
		  --root    folders that hold repositories; policies name them by the path below
		  --user    the user that git runs as on this server (git)
		  --server  what runs their hooks (plain: git itself, over ssh or http); docs/servers.md
		  --wheels  install without a network, from what `./install.sh wheels DIR` fetched
		  --prefix  everything below DIR, and no systemd: for tests and images
		  --dry-run say what would be done
	EOF
}

# shellcheck source=packaging/steps.sh
. "$(dirname "$0")/steps.sh"
# shellcheck source=packaging/program.sh
. "$checkout/packaging/program.sh"
# shellcheck source=packaging/home.sh
. "$checkout/packaging/home.sh"
# shellcheck source=packaging/unit.sh
. "$checkout/packaging/unit.sh"

repos='' roots='' server='' user=git wheels='' restart='' newly=''

read_arguments() {
	into=
	while [ $# -gt 0 ]; do
		case $1 in
		--repo | --root)
			[ $# -gt 1 ] || misused "$1 needs a path"
			into=$1
			;;
		--server | --user | --wheels | --prefix)
			[ $# -gt 1 ] || misused "$1 needs a value"
			into=
			case $1 in
			--server) server=$2 ;;
			--user) user=$2 ;;
			--wheels) wheels=$(absolute "$2") || exit ;;
			--prefix) prefix=$(absolute "$2") || exit ;;
			esac
			shift
			;;
		-h | --help) helped ;;
		--dry-run) dry=yes into= ;;
		-*) misused "unknown option $1" ;;
		*)
			path=$(absolute "$1") || exit
			case $into in
			--repo) repos=$repos$path$newline ;;
			--root) roots=$roots$path$newline ;;
			*) misused "unknown argument $1" ;;
			esac
			;;
		esac
		shift
	done
	case $server in
	"" | plain | gitolite | gitea | gitlab) ;;
	*) misused "--server is plain, gitolite, gitea or gitlab, not $server" ;;
	esac
}

# All that can be refused is refused before anything is written.
demand_sense() {
	command -v git >/dev/null || die "git is not installed"
	command -v flock >/dev/null || die "flock is not installed (on Debian and Ubuntu: util-linux)"
	entry=$("$python" -I -B -c 'import grp, pwd, sys
entry = pwd.getpwnam(sys.argv[1])
print(entry.pw_uid, grp.getgrgid(entry.pw_gid).gr_name)' "$user" 2>/dev/null) ||
		die "there is no user $user; name the one that git runs as: --user NAME"
	group=${entry#* }
	[ "${entry%% *}" -ne 0 ] || die "git must not run as root; name another user: --user NAME"
	[ -z "$wheels" ] || [ -n "$(find "$wheels" -name '*.whl' 2>/dev/null)" ] ||
		die "$wheels holds no wheels; \`./install.sh wheels DIR\` fills such a folder"
	demand_home
	demand_state
	with_each "$repos" demand_repositories
	with_each "$roots" demand_folders
	case $(installed) in
	"" | "releases/${release##*/}") ;;
	*) die "another version is installed, $(installed); run ./install.sh upgrade first" ;;
	esac
}

demand_repositories() {
	for path in "$@"; do
		if [ ! -f "$path/HEAD" ] || [ ! -d "$path/objects" ]; then
			die "$path is not a bare repository; name the folder that holds its HEAD and objects"
		fi
	done
}

demand_folders() {
	for path in "$@"; do
		[ -d "$path" ] || die "$path is not a folder"
	done
}

put_in_force() {
	if [ "$(installed)" = "releases/${release##*/}" ]; then
		say "$opt/current is that program"
		return
	fi
	step "making it the one in force, $opt/current" || return 0
	point_at "$release"
	newly=yes
}

# An enrolment that changes nothing would be logged all the same.
is_enrolled() {
	[ -f "$1/policyd-key" ] && [ -x "$current" ] && facts hooked "$home" "$1" "$server" 2>/dev/null
}

enroll_all() {
	for path in "$@"; do
		if is_enrolled "$path"; then
			say "$path is enrolled"
		elif step "enrolling $path"; then
			policyd enroll ${server:+--server "$server"} "$path" ||
				warn "$path is as it was before; mend what is said above, then run this again"
		fi
	done
	[ $# -gt 0 ] || say "no repository was named: \`policyd enroll REPO\`, or --all for all below" \
		"the roots"
}

look_around() {
	step "asking policyd doctor" || return 0
	policyd doctor || warn "doctor found faults: see above for what to do"
}

tell_end() {
	if [ -n "$dry" ]; then
		say "nothing was changed"
	elif [ -n "$trouble" ]; then
		say "not all of it is done: see above" >&2
		exit 1
	else
		say "done. What would be refused: \`policyd log report\`. From here on: docs/install.md"
	fi
}

read_arguments "$@"
demand_root ./install.sh server "$@"
name_places
find_system_python
name_release
demand_sense
take_turn
unchanged="Nothing changed for any push; run this again once that is mended"
build_release
put_in_force
make_home
find_state
make_state
put_command
with_each "$repos" enroll_all
put_unit
look_around
tell_end
