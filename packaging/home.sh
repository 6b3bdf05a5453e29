# shellcheck shell=sh
# Sourced: the home, which is root's, and the state folder, which is the git user's.
# shellcheck disable=SC2154

# A home that is kept names its own state folder.
find_state() {
	[ -x "$release/bin/python" ] || return 0
	found=$("$release/bin/python" -I -B "$checkout/packaging/facts.py" state "$home" 2>/dev/null) ||
		return 0
	state=$found
	demand_state
}

is_loadable() {
	"$release/bin/python" -I -B "$checkout/packaging/facts.py" state "$home" >/dev/null 2>&1
}

# An empty folder of root's is what an interrupted installation left.
demand_state() {
	[ -e "$state" ] || [ -L "$state" ] || return 0
	if [ ! -d "$state" ] || [ -L "$state" ]; then
		die "$state is not a folder; move it away"
	fi
	owner=$(stat -c %U "$state")
	[ "$owner" = "$user" ] || [ -z "$(ls -A "$state")" ] ||
		die "$state belongs to $owner, and pushes must arrive as its owner: pass --user $owner," \
			"or give it to $user (chown -R $user $state)"
}

make_state() {
	if [ -d "$state" ] && [ "$(stat -c %U "$state")" = "$user" ]; then
		say "the state folder $state is kept"
		return
	fi
	step "making the state folder $state for $user" || return 0
	mkdir -p "${state%/*}"
	install -d -m 700 -o "$user" -g "$group" "$state"
}

demand_home() {
	[ -e "$home/policyd.yaml" ] || [ ! -e "$home" ] || [ -z "$(ls -A "$home")" ] ||
		die "$home holds files and no policyd.yaml; move it away"
}

# What the release $2 writes for a server, into the folder $1.
first_home() {
	rm -rf "$1"
	"$2/bin/python" -I -m policyd init "$1" --state "$state" >/dev/null || return
	with_each "$roots" "$2/bin/python" -I -B "$checkout/packaging/facts.py" \
		observing "$1" "$home" "$server"
}

# Made aside and put in place by one rename: there is no home that is half of one.
make_home() {
	if [ -e "$home/policyd.yaml" ]; then
		say "the home $home is kept"
		[ -z "$roots" ] || say "its \`roots\` stay as policyd.yaml has them"
		# Kept from another version, its policies may be in force in a form of that one.
		[ -n "$dry" ] || is_loadable || apply_home
		[ -z "$newly" ] || offer_defaults ""
		return
	fi
	step "writing the home $home: all is observed, nothing refused" || return 0
	draft=${home%/*}/.policyd.new
	mkdir -p "${home%/*}"
	first_home "$draft" "$release" || die "the home could not be written; see above"
	told=$("$release/bin/python" -I -m policyd --home "$draft" policy apply) ||
		die "the first policy could not be put in force: $told"
	"$python" -I -B -c 'import os; os.sync()'
	rename "$draft" "$home"
}

apply_home() {
	say "putting in force what $home says"
	"$release/bin/python" -I -m policyd --home "$home" policy apply ||
		die "$home is not in force: mend what is listed, then run this again"
}

# Beside what people edited, never over it: FILE.new for each shipped file that is another one
# than the release $1 shipped ("": than what is there).
offer_defaults() {
	drafts=$opt/.defaults
	rm -rf "$drafts"
	mkdir -p "$drafts"
	first_home "$drafts/now" "$release" || die "the shipped home could not be written; see above"
	# Where the one before writes none that this installer knows, all of it counts as new.
	[ -z "$1" ] || first_home "$drafts/before" "$1" || :
	(cd "$drafts/now" && find . -type f ! -path './active/*') | while IFS= read -r file; do
		offer "${file#./}"
	done
	rm -rf "$drafts"
}

offer() {
	now=$drafts/now/$1 there=$home/$1
	if cmp -s "$now" "$drafts/before/$1" || cmp -s "$now" "$there" || cmp -s "$now" "$there.new"; then
		return
	fi
	say "the shipped $1 is another one: see $there.new"
	mkdir -p "${there%/*}"
	put "$there.new" 644 <"$now" || :
}
