#!/bin/sh
# `./install.sh wheels DIR`: what `server` and `upgrade` fetch, for a machine without a network.
set -eu

usage() {
	cat <<-'EOF'
		usage: ./install.sh wheels DIR

		Fills DIR with what the locks name, for this kind of machine and this version of
		Python. Then, on the server: ./install.sh server --wheels DIR
	EOF
}

# shellcheck source=packaging/steps.sh
. "$(dirname "$0")/steps.sh"
# shellcheck source=packaging/program.sh
. "$checkout/packaging/program.sh"

[ $# -eq 1 ] || misused "wheels takes one folder"
case $1 in -h | --help) helped ;; -*) misused "unknown option $1" ;; esac
into=$(absolute "$1")
find_system_python
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
say "fetching what the locks name into $into, for $("$python" -V)"
"$python" -I -m venv "$work/pip"
locked setuptools >"$work/build.lock"
for lock in "$checkout/requirements.lock" "$work/build.lock"; do
	"$work/pip/bin/python" -I -m pip download --quiet --disable-pip-version-check --no-input \
		--only-binary :all: --require-hashes -r "$lock" -d "$into" ||
		die "not all of it could be fetched; see above"
done
say "done: ./install.sh server --wheels $into"
