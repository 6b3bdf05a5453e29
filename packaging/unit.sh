# shellcheck shell=sh
# Sourced: the daemon under systemd. No push depends on it, so its faults stop nothing.
# shellcheck disable=SC2154

systemd_runs() {
	[ -z "$prefix" ] && [ -d /run/systemd/system ]
}

needs_quoting() {
	case $1 in
	*[!A-Za-z0-9/._+@,=\ -]*) return ;;
	*) return 1 ;;
	esac
}

# A root that is not mounted yet must not keep the daemon from starting: the dash.
also_written() {
	for path in "$@"; do
		if needs_quoting "$path"; then
			say "the daemon cannot enrol below $path: that path needs quoting" >&2
		else
			printf ' "-%s"' "$path"
		fi
	done
}

unit_text() {
	written=''
	[ ! -x "$current" ] || written=$(with_each "$(facts written "$home" 2>/dev/null)" also_written)
	sed -e "s|@WRITTEN@|$written|" -e "s|@USER@|$user|; s|@GROUP@|$group|; s|@STATE@|$state|; s|@HOME@|$home|" \
		-e "s|@PYTHON@|$current|" "$checkout/packaging/policyd.service"
}

put_unit() {
	if needs_quoting "$state"; then
		warn "no unit: the path $state needs quoting; start \`policyd serve\` as $user yourself"
		return
	fi
	if [ -z "$prefix" ] && ! command -v systemctl >/dev/null; then
		say "no systemd here: start \`$opt/bin/policyd serve\` as $user by other means"
		return
	fi
	if unit_text | cmp -s - "$unit"; then
		say "the unit $unit is in place"
	elif step "putting the unit $unit"; then
		mkdir -p "${unit%/*}"
		unit_text | put "$unit" 644 || :
		restart=yes
	fi
	[ -z "$prefix" ] || {
		say "below a prefix the unit is neither enabled nor started"
		return 0
	}
	run_unit
}

run_unit() {
	if ! systemd_runs; then
		step "enabling the unit for the next boot, as systemd does not run now" || return 0
		systemctl enable --quiet policyd.service ||
			warn "the unit could not be enabled: \`systemctl enable policyd\`"
		return
	fi
	if [ -z "$restart" ] && systemctl is-enabled --quiet policyd.service &&
		systemctl is-active --quiet policyd.service; then
		say "the daemon runs already"
		return
	fi
	step "starting the daemon" || return 0
	systemctl daemon-reload
	systemctl reset-failed policyd.service 2>/dev/null || :
	if systemctl enable --quiet policyd.service && systemctl restart policyd.service; then
		return
	fi
	warn "the daemon did not start: \`journalctl -u policyd\`, then \`systemctl restart policyd\`." \
		"Pushes are judged without it"
}

take_unit_out() {
	[ -e "$unit" ] || return 0
	step "taking the unit out" || return 0
	if systemd_runs; then
		systemctl disable --quiet --now policyd.service || warn "the daemon could not be stopped"
	elif [ -z "$prefix" ] && command -v systemctl >/dev/null; then
		systemctl disable --quiet policyd.service || :
	fi
	rm -f "$unit" "$unit.new"
	if systemd_runs; then
		systemctl daemon-reload
	fi
}
