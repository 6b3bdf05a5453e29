# shellcheck shell=sh
# Sourced: the program. Each version is a folder of its own, OPT/releases/NAME, and the link
# OPT/current says which one counts. Hooks name OPT/current/bin/python, so that an upgrade is one
# rename for all of them, and an interrupted one leaves them what they had.
# shellcheck disable=SC2034,SC2154

# The distribution's own: every user can run it, and it stays when people's own Pythons go.
find_system_python() {
	seen=
	for candidate in /usr/bin/python3 /usr/bin/python3.13 /usr/bin/python3.12 \
		/usr/bin/python3.11 /usr/local/bin/python3; do
		[ -x "$candidate" ] || continue
		answer=$("$candidate" -I -B -c 'import os, sys
print(sys.version_info[0], sys.version_info[1], os.path.realpath(sys.executable))' 2>/dev/null) ||
			continue
		read -r major minor python <<-END
			$answer
		END
		case $python in
		*pyenv* | *asdf* | *conda* | *mise*) seen="$seen; $candidate is a version manager's" ;;
		/usr/* | /bin/*)
			if [ "$major" -ne 3 ] || [ "$minor" -lt 11 ]; then
				seen="$seen; $candidate is $major.$minor"
			elif "$python" -I -B -c 'import venv, ensurepip' 2>/dev/null; then
				return
			else
				seen="$seen; $candidate lacks venv (on Debian and Ubuntu: apt-get install python3-venv)"
			fi
			;;
		*) seen="$seen; $candidate is $python, which is not the system's" ;;
		esac
	done
	die "needs the system's Python, 3.11 or later with venv, and found none$seen"
}

# What a release is made from; the same again is the same release.
name_release() {
	version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$checkout/pyproject.toml")
	# shellcheck disable=SC2046  # the folders that the project has; their names are its own
	sum=$(cd "$checkout" && {
		"$python" -VV && printf '%s\n' "$python" &&
			find policyd hooks policies packaging pyproject.toml README.md requirements.lock \
				requirements-test.lock -type f ! -name '*.pyc' -exec sha256sum {} + | LC_ALL=C sort
	} | sha256sum)
	release=$opt/releases/$version-$(printf '%.12s' "$sum")
}

# The lines of one project out of a lock, hashes included.
locked() {
	awk -v wanted="^$1==" '/^[a-z]/ { on = $0 ~ wanted } on' "$checkout/requirements-test.lock"
}

# A pip and the build backend, aside: neither belongs into what judges pushes.
make_pip() {
	"$python" -I -m venv "$work/pip" || return
	locked setuptools >"$work/build.lock"
	pip "$work/pip" "$work/build.lock"
}

# Into the environment $1, what the lock $2 names. Wheels only: root builds nobody's sources.
pip() {
	if [ -n "$wheels" ]; then
		set -- "$1" "$2" --isolated install --no-index --find-links "$wheels"
	else
		set -- "$1" "$2" install --no-cache-dir
	fi
	environment=$1 lock=$2
	shift 2
	"$work/pip/bin/python" -I -m pip --python "$environment/bin/python" --quiet \
		--disable-pip-version-check --no-input "$@" --compile --only-binary :all: \
		--require-hashes -r "$lock"
}

# From a copy: a build leaves folders behind, and the checkout is not root's to write to.
install_package() {
	mkdir "$work/source" &&
		(cd "$checkout" && cp -R policyd hooks policies packaging pyproject.toml README.md \
			"$work/source") &&
		"$work/pip/bin/python" -I -m pip --isolated --quiet --disable-pip-version-check wheel \
			--no-deps --no-index --no-build-isolation -w "$work" "$work/source" &&
		"$work/pip/bin/python" -I -m pip --isolated --python "$release/bin/python" --quiet \
			--disable-pip-version-check install --compile --no-deps --no-index "$work"/policyd-*.whl
}

# A process that started before a swap goes on with the modules of its own release: what it finds
# through OPT/current is resolved once, when it starts.
pin_modules() {
	for folder in "$release"/lib/python3.*/site-packages; do
		echo 'import os, sys; sys.path[:] = [os.path.realpath(entry) for entry in sys.path]' \
			>"$folder/policyd-release.pth"
	done
	# Each of these would name this release for ever; OPT/bin/policyd names the one that counts.
	find "$release/bin" -mindepth 1 ! -name 'python*' -exec rm -rf {} +
}

runs_as_user() {
	"$python" -I -B -c 'import os, pwd, sys
entry = pwd.getpwnam(sys.argv[1])
os.initgroups(entry.pw_name, entry.pw_gid)
os.setgid(entry.pw_gid)
os.setuid(entry.pw_uid)
os.chdir("/")
os.execv(sys.argv[2], sys.argv[2:])' "$user" "$release/bin/python" -I -B -c \
		'import policyd.hook, policyd.daemon.service, policyd.cli'
}

# The marker comes last and after a sync: a release that has it is whole, also after a power cut.
build_release() {
	if [ -e "$release/.complete" ]; then
		say "the program ${release##*/} is there already"
		return
	fi
	step "building the program ${release##*/} with $python" || return 0
	work=$opt/.build
	rm -rf "$work" "$release"
	mkdir -p "$work" "$opt/releases"
	make_pip || die "no pip could be made; see above. Without a network: --wheels DIR, a folder \
that \`./install.sh wheels DIR\` filled on another machine. $unchanged"
	"$python" -I -m venv --without-pip "$release" || die "no venv could be made. $unchanged"
	say "installing what requirements.lock names"
	pip "$release" "$checkout/requirements.lock" ||
		die "not all that requirements.lock names could be installed; see above. $unchanged"
	say "installing policyd $version"
	install_package || die "policyd itself could not be installed; see above. $unchanged"
	pin_modules
	runs_as_user || die "$release does not run as $user; every folder above it must let that \
user in. $unchanged"
	rm -rf "$work"
	"$python" -I -B -c 'import os; os.sync()'
	: >"$release/.complete"
}

installed() {
	readlink "$opt/current" 2>/dev/null || :
}

point_at() {
	rm -f "$opt/.current.new"
	ln -s "releases/${1##*/}" "$opt/.current.new"
	rename "$opt/.current.new" "$opt/current"
}

# The one in force and the one before it stay: pushes and a daemon that started with that one may
# still run, and it is the way back.
forget_releases() {
	for folder in "$opt"/releases/*; do
		case $folder in
		"$1" | "$2") ;;
		*)
			[ ! -e "$folder" ] || rm -rf "$folder"
			;;
		esac
	done
}

quoted() {
	printf "'%s'" "$1"
}

command_text() {
	cat <<-END
		#!/bin/sh
		# The policyd that is in force here, with this server's home.
		unset PYTHONEXECUTABLE __PYVENV_LAUNCHER__
		# Where libgit2 looks for configuration is settled before root becomes a repository's
		# owner, to whom /root is closed.
		[ "\$(id -u)" -ne 0 ] || export HOME=/
		exec $(quoted "$current") -I -m policyd --home $(quoted "$home") "\$@"
	END
}

put_command() {
	if command_text | cmp -s - "$opt/bin/policyd" && [ "$(readlink "$link")" = "$opt/bin/policyd" ]; then
		say "the command $link is in place"
		return
	fi
	step "putting the command $link" || return 0
	mkdir -p "$opt/bin" "${link%/*}"
	command_text | put "$opt/bin/policyd" 755 || :
	if [ -e "$link" ] && [ ! -L "$link" ]; then
		warn "$link is somebody else's and stays; the command is $opt/bin/policyd"
		return
	fi
	rm -f "$link.new"
	ln -s "$opt/bin/policyd" "$link.new"
	rename "$link.new" "$link"
}
