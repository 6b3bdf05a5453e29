#!/bin/sh
# install.sh PYTHON: what the tests of real servers and of sandboxes need, from the distribution
# and from PyPI.
# Prints in one line why something stays absent. That is no failure: those tests are left out.
set -u
cd "$(dirname "$0")" || exit
python=$1
here=$(dirname "$(dirname "$python")")/servers

# The tests bring up their own; none of these may start by itself meanwhile, sshd least of all.
answer=/usr/sbin/policy-rc.d
work=
moved=
placed=

say() {
	printf 'install.sh: %s\n' "$*" >&2
}

# The packages whose program is nowhere on the machine.
absent() {
	while read -r program package; do
		PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin command -v "$program" >/dev/null 2>&1 ||
			printf '%s\n' "$package"
	done <<-'EOF'
		sshd openssh-server
		nginx nginx-light
		fcgiwrap fcgiwrap
		spawn-fcgi spawn-fcgi
		htpasswd apache2-utils
		gitolite gitolite3
		bwrap bubblewrap
	EOF
}

forbid_services() {
	if [ -e "$answer" ]; then
		"$answer" ssh start >/dev/null 2>&1
		[ $? -ne 101 ] || return 0
		mv "$answer" "$answer.before-tests" && moved=yes
	fi
	placed=yes
	printf '#!/bin/sh\nexit 101\n' >"$answer" && chmod 755 "$answer"
}

leave() {
	[ -z "$placed" ] || rm -f "$answer"
	[ -z "$moved" ] || mv "$answer.before-tests" "$answer"
	[ -z "$work" ] || rm -rf "$work"
}

apt() {
	DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=1 \
		-o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 "$@" >"$work/log" 2>&1 </dev/null
}

# Lists of packages that are missing or stale show when they are used.
install_packages() {
	# shellcheck disable=SC2046 # one word each
	set -- $(absent)
	[ $# -gt 0 ] || return 0
	if ! command -v apt-get >/dev/null 2>&1; then
		echo "there is no apt-get here to install $*"
	elif [ "$(id -u)" -ne 0 ]; then
		echo "only root can install $*"
	else
		say "installing $*"
		forbid_services
		apt install -y --no-install-recommends "$@" && return
		apt update && apt install -y --no-install-recommends "$@" && return
		echo "apt-get cannot install $*: $(grep '^E:' "$work/log" | tail -n 1)"
	fi
}

# Not in the lock of the tests: a server that nobody needs to have.
install_dulwich() {
	[ ! -e "$here/whole" ] || return 0
	rm -rf "$here"
	if "$python" -m pip install --quiet --disable-pip-version-check --no-input --retries 1 \
		--timeout 20 --require-hashes --no-deps --only-binary :all: --platform any \
		--target "$here" -r dulwich.lock >"$work/log" 2>&1; then
		mkdir -p "$here" && : >"$here/whole"
	else
		echo "pip cannot install dulwich"
	fi
}

trap leave EXIT
trap 'exit 1' HUP INT TERM
work=$(mktemp -d)
{
	install_packages
	install_dulwich
} >"$work/why"
paste -s -d ';' "$work/why" | sed 's/;/; /g'
