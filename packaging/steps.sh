# shellcheck shell=sh
# Sourced by the scripts beside it: what they say, where things are, one of them at a time.
# They set the variables that look unused here, and use those that look unset.
# shellcheck disable=SC2034,SC2154

# All of these put other people's modules, or other places, in front of what is meant.
unset PYTHONPATH PYTHONHOME PYTHONEXECUTABLE __PYVENV_LAUNCHER__ \
	PIP_TARGET PIP_PREFIX PIP_ROOT PIP_USER PIP_REQUIRE_VIRTUALENV PIP_NO_COMPILE CDPATH
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH
umask 022

newline='
'
checkout=$(cd "$(dirname "$0")/.." && pwd -P)
dry=
prefix=
trouble=

say() {
	printf 'install.sh: %s\n' "$*"
}

die() {
	say "$*" >&2
	exit 1
}

misused() {
	say "$*" >&2
	usage >&2
	exit 2
}

helped() {
	usage
	exit
}

# Says what is done next; false in a dry run: `step "doing it" || return 0`.
step() {
	if [ -n "$dry" ]; then
		say "would be $*"
		return 1
	fi
	say "$*"
}

# Run a command with the lines of $1 behind its arguments.
with_each() {
	lines=$1
	shift
	set -f
	IFS=$newline
	# shellcheck disable=SC2086  # a path a line
	set -- "$@" $lines
	unset IFS
	set +f
	"$@"
}

# Something that leaves the server working and must be seen to afterwards.
warn() {
	say "$*" >&2
	trouble=yes
}

absolute() {
	case $1 in
	*"$newline"*) misused "a path may not hold a line break" ;;
	/*) printf '%s\n' "$1" ;;
	*) printf '%s/%s\n' "$(pwd -P)" "$1" ;;
	esac
}

demand_root() {
	[ "$(id -u)" -eq 0 ] || die "run this as root: it writes where only root may (sudo $*)"
}

# Below the prefix lies a whole installation that knows of no other. Shell, YAML and systemd
# each quote in their own way, and none of them needs to for these characters.
name_places() {
	case $prefix in
	*[!A-Za-z0-9/._+@,=\ -]*) misused "--prefix takes letters, digits, spaces and /._+@,=- only" ;;
	esac
	prefix=${prefix%/}
	opt=$prefix/opt/policyd
	home=$prefix/etc/policyd
	state=$prefix/var/lib/policyd
	unit=$prefix/etc/systemd/system/policyd.service
	link=$prefix/usr/local/bin/policyd
	current=$opt/current/bin/python
}

# Held by this shell and by what it starts: a pip that outlives a killed shell holds it too.
take_turn() {
	[ -z "$dry" ] || return 0
	mkdir -p "$opt"
	exec 9>"$opt/.lock"
	flock -n 9 || die "another install.sh is at work on $opt; wait for it"
}

# Rename that replaces a link instead of following it, and is on disk when it is said to be.
rename() {
	"$python" -I -B -c 'import os, sys
os.replace(sys.argv[1], sys.argv[2])
folder = os.open(os.path.dirname(sys.argv[2]), os.O_RDONLY)
os.fsync(folder)' "$1" "$2"
}

# Put a text at $1 with mode $2 at once; false where it is there already.
put() {
	cat >"$1.new"
	if cmp -s "$1.new" "$1" 2>/dev/null; then
		rm -f "$1.new"
		return 1
	fi
	chmod "$2" "$1.new"
	rename "$1.new" "$1"
}

policyd() {
	HOME=/ "$current" -I -m policyd --home "$home" "$@"
}

facts() {
	HOME=/ "$current" -I -B "$checkout/packaging/facts.py" "$@"
}
