#!/bin/sh
# `./install.sh upgrade`: this checkout's program in the place of the one in force. What would be
# judged differently is told first; the swap is one rename, and the program before it stays.
set -eu

usage() {
	cat <<-'EOF'
		usage: ./install.sh upgrade [--yes] [--wheels DIR] [--prefix DIR] [--dry-run]

		  --yes     go on although something changes, without asking
		  --wheels  without a network, from what `./install.sh wheels DIR` fetched
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

wheels='' yes='' restart='' reformed='' changed='' verdicts=''
server='' hook=share/policyd/hooks/pre-receive

read_arguments() {
	while [ $# -gt 0 ]; do
		case $1 in
		-h | --help) helped ;;
		--yes) yes=yes ;;
		--dry-run) dry=yes ;;
		--wheels | --prefix)
			[ $# -gt 1 ] || misused "$1 needs a value"
			case $1 in
			--wheels) wheels=$(absolute "$2") || exit ;;
			--prefix) prefix=$(absolute "$2") || exit ;;
			esac
			shift
			;;
		*) misused "unknown argument $1" ;;
		esac
		shift
	done
}

# From the program in force; after a swap that was interrupted, from the one that was to follow it.
read_standing() {
	told=$(facts standing "$home") ||
		die "$home is not in force for the program that is there: \`policyd doctor\`"
	{
		read -r user
		read -r group
		read -r state
	} <<-END
		$told
	END
	roots=$(facts roots "$home")
}

fresh() {
	HOME=/ "$release/bin/python" -I -B "$checkout/packaging/facts.py" "$@"
}

# All on a copy of the home: what is in force is not touched, and edits that nobody applied do not
# come in by the back door.
compare() {
	aside=$opt/.upgrade
	rm -rf "$aside"
	mkdir -p "$aside"
	cp -a "$home" "$aside/home"
	chown -R 0:0 "$aside/home"
	if ! apply_aside "$current" || is_reformed; then
		cat "$aside/told"
		die "$home was edited and not applied: \`policyd policy apply\`, or take the edits back." \
			"$unchanged"
	fi
	if ! apply_aside "$release/bin/python"; then
		cat "$aside/told"
		die "this version does not take the policies of $home as they are. $unchanged"
	fi
	if is_reformed; then
		reformed=yes
	fi
	differing=$(compare_gates) || die "the gates could not be compared. $unchanged"
	say "judging recent pushes again, for half a minute at the most"
	verdicts=$(compare_verdicts) || die "recent pushes could not be judged again. $unchanged"
	with_each "$(fresh verdicts-left "$aside/verdicts")" say_each
}

apply_aside() {
	"$1" -I -m policyd --home "$aside/home" policy apply >"$aside/told" 2>&1
}

is_reformed() {
	! cmp -s "$home/active/current" "$aside/home/active/current"
}

compare_gates() {
	policyd status --format json >"$aside/before" &&
		fresh gates "$aside/home" >"$aside/after" &&
		fresh differ "$aside/before" "$aside/after"
}

# The release in force may be too old for the question: then the log itself is what was said.
compare_verdicts() {
	: >"$aside/verdicts-before"
	if policyd log rejudge --help >/dev/null 2>&1; then
		facts verdicts "$home" >"$aside/verdicts-before"
	fi
	fresh verdicts "$aside/home" >"$aside/verdicts" &&
		fresh verdicts-differ "$aside/verdicts-before" "$aside/verdicts"
}

say_each() {
	for line in "$@"; do
		say "$line"
	done
}

demand_consent() {
	if [ -z "$differing" ]; then
		say "policies and gates are the same with it"
	fi
	if [ -z "$verdicts" ]; then
		say "no verdict would be another one"
	fi
	[ -n "$differing$verdicts" ] || return 0
	case $differing in *"policies: "*) cat "$aside/told" ;; esac
	[ -z "$differing" ] || say "this changes:$newline$differing"
	[ -z "$verdicts" ] || say "these pushes would be judged otherwise:$newline$verdicts"
	[ -z "$yes" ] || return 0
	[ -t 0 ] || die "go on with --yes. $unchanged"
	printf 'install.sh: go on? [y/N] '
	read -r answer
	case $answer in
	y | Y | yes) ;;
	*) die "stopped. $unchanged" ;;
	esac
}

# The note says what an interrupted swap was about; with it the next run goes on from here.
swap() {
	step "making ${release##*/} the one in force" || return 0
	printf '%s\n' "${release##*/}" "${old##*/}" >"$opt/.unfinished"
	if [ -z "$reformed" ]; then
		point_at "$release"
		return
	fi
	rm -f "$opt/.current.new"
	ln -s "releases/${release##*/}" "$opt/.current.new"
	fresh swap "$home" "$aside/home/active/current" "$opt/.current.new" "$opt/current" ||
		die "the swap failed; run this again"
}

goes_on() {
	[ -e "$opt/.unfinished" ] && [ "$(sed -n 1p "$opt/.unfinished")" = "${release##*/}" ] &&
		[ -e "$release/.complete" ]
}

# Hooks name the program by the link, so they are written anew only where their text changed.
renew_hooks() {
	[ $# -gt 0 ] && [ -n "$restart" ] || return 0
	for file in "$old/$hook" "$old"/lib/python3.*/site-packages/policyd/adapters/hookfiles.py; do
		cmp -s "$file" "$release/${file#"$old/"}" || changed=yes
	done
	[ -n "$changed" ] || return 0
	say "renewing the hooks"
	policyd enroll "$@" || warn "some hooks stay as they were: \`policyd enroll REPO\` for each"
}

finish() {
	with_each "$(facts enrolled "$home" "$state")" renew_hooks
	[ -z "$restart" ] || offer_defaults "$old"
	put_command
	put_unit
	policyd doctor || warn "doctor found faults: see above. Back to the program before:" \
		"./install.sh upgrade in its checkout"
	[ -z "$restart" ] || forget_releases "$release" "$old"
	rm -rf "$opt/.upgrade" "$opt/.unfinished"
	[ -z "$trouble" ] || exit 1
	say "done"
}

read_arguments "$@"
demand_root ./install.sh upgrade "$@"
name_places
find_system_python
name_release
[ -x "$current" ] || die "nothing is installed at $opt; ./install.sh server"
take_turn
unchanged="Nothing changed: $(installed) stays in force"
old=$opt/$(installed)
if goes_on; then
	say "going on with an upgrade that was interrupted"
	old=$opt/releases/$(sed -n 2p "$opt/.unfinished") restart=yes
	point_at "$release"
	read_standing
elif [ "$old" = "$release" ]; then
	say "this version is in force already"
	read_standing
	[ -z "$dry" ] || exit 0
else
	read_standing
	build_release
	step "comparing policies, gates and verdicts, swapping the program, restarting the daemon" || exit 0
	compare
	demand_consent
	swap
	restart=yes
fi
finish
