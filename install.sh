#!/bin/sh
# Makes the checkout's own environment from the lock and runs things in it, or puts policyd onto
# a server, which is in packaging/. Needs git, a Python of 3.11 or later with venv, and PyPI once.
set -eu

# Both would put other people's modules in front of the locked ones.
unset PYTHONPATH PYTHONHOME

usage() {
	cat <<-'EOF'
		usage: ./install.sh demo
		       ./install.sh test [--servers] [pytest arguments...]
		       ./install.sh server|upgrade|uninstall|wheels --help

		  demo       a tour of real pushes to a guarded repository in a temporary
		             folder, with what the pusher reads
		  test       run the tests; arguments go to pytest, paths count from the
		             checkout; with --servers the git servers that some of them
		             push to are installed first, which takes root and apt-get

		Both make .venv in the checkout where it is absent or outdated.

		  server     put policyd onto this server, as root; docs/install.md
		  upgrade    put this version in the place of the one that is there
		  uninstall  take policyd out of all repositories and off the server
		  wheels     fetch what a server without a network needs
	EOF
}

say() {
	printf 'install.sh: %s\n' "$*"
}

die() {
	say "$*" >&2
	exit 1
}

# Asks each candidate for itself: a version manager's shim would answer
# differently from folder to folder, so only the program behind it is kept.
find_python() {
	seen=
	for name in python3.13 python3.12 python3.11 python3; do
		answer=$("$name" -I -c 'import os, sys
print(sys.version_info[0], sys.version_info[1], os.path.realpath(sys.executable))' 2>/dev/null) ||
			continue
		read -r major minor python <<-EOF
			$answer
		EOF
		if [ "$major" -ne 3 ] || [ "$minor" -lt 11 ]; then
			seen="; $name is $major.$minor"
		elif "$python" -I -c 'import venv, ensurepip' 2>/dev/null; then
			return
		else
			seen="; $name is $major.$minor without venv (on Debian and Ubuntu: the package python3-venv)"
		fi
	done
	die "needs Python 3.11 or later with venv, and found none on PATH$seen."
}

# The checkout's place is part of it: a copied .venv still points at the first.
fingerprint() {
	{ pwd -P && cat requirements-test.lock pyproject.toml; } | sha256sum
}

# The stamp is written last, so an interrupted .venv has none and is remade.
prepare() {
	wanted=$(fingerprint)
	if [ -x .venv/bin/python ] && [ "$(cat .venv/.stamp 2>/dev/null)" = "$wanted" ]; then
		return
	fi
	find_python
	say "making .venv with $python"
	rm -rf .venv
	"$python" -m venv .venv
	say "installing what requirements-test.lock names"
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input \
		--require-hashes -r requirements-test.lock
	say "installing this checkout"
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input \
		--no-deps --no-index --no-build-isolation \
		--config-settings editable_mode=compat --editable .
	printf '%s\n' "$wanted" >.venv/.stamp
}

# What cannot be installed leaves its tests out, and they say so at the end.
add_servers() {
	POLICYD_NOT_INSTALLED=$(/bin/sh tests/servers/install.sh "$(pwd -P)/.venv/bin/python")
	export POLICYD_NOT_INSTALLED
	[ -z "$POLICYD_NOT_INSTALLED" ] || say "not all servers are here: $POLICYD_NOT_INSTALLED"
}

run_tests() {
	prepare
	if [ "${1-}" = --servers ]; then
		shift
		add_servers
	fi
	say "running the tests"
	exec .venv/bin/python -m pytest -n 3 --dist worksteal -q "$@"
}

run_demo() {
	prepare
	exec .venv/bin/python demo/tour.py
}

case "${1-}" in
server | upgrade | uninstall | wheels)
	script=$(dirname "$0")/packaging/$1.sh
	shift
	exec /bin/sh "$script" "$@"
	;;
esac
cd "$(dirname "$0")"
case "${1-}" in
demo)
	run_demo
	;;
test)
	shift
	run_tests "$@"
	;;
*)
	usage >&2
	exit 2
	;;
esac
