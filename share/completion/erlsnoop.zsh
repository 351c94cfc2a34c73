# SPDX-License-Identifier: Apache-2.0
# zsh completion for erlsnoop. The tables above are generated of its help.

_erlsnoop_complete() {
	case $1 in
	views) _values -s , view ${=_erlsnoop_views} ;;
	probes) _values -s , 'view, probe or family' ${=_erlsnoop_views} ${=_erlsnoop_probes} all ;;
	vms) compadd -- ${(f)"$(pgrep '^(beam|erlvm)' 2>/dev/null)"} \
		${(f)"$(erlsnoop list --json 2>/dev/null | sed -n 's/.*"name":"\([A-Za-z0-9@._-]*\)".*/\1/p')"} ;;
	files) _files ;;
	one) compadd -- "${@:2}" ;;
	none) _message value ;;
	esac
}

# name:text of names, which stand in the table of texts as $1name.
_erlsnoop_describe() {
	local -a rows
	local name
	for name in "${@:3}"; do
		rows+=("${name//:/\\:}:${_erlsnoop_about[$1$name]}")
	done
	_describe -o $2 rows
}

_erlsnoop() {
	local command=$words[2] kind started=${words[(i)--]}
	if ((CURRENT == 2)) || [[ $command == help && CURRENT -eq 3 ]]; then
		_erlsnoop_describe '' command ${=_erlsnoop_commands}
	elif ((started < CURRENT)); then
		shift started words
		((CURRENT -= started))
		_normal
	elif kind=${_erlsnoop_values[$command:$words[CURRENT-1]]} && [[ -n $kind ]]; then
		_erlsnoop_complete ${=kind}
	elif [[ $PREFIX == -* ]]; then
		_erlsnoop_describe $command: option ${=_erlsnoop_options[$command]}
	else
		for kind in ${=_erlsnoop_operands[$command]}; do
			_erlsnoop_complete $kind
		done
	fi
}

_erlsnoop "$@"
