# SPDX-License-Identifier: Apache-2.0
# bash completion for erlsnoop. The tables above are generated of its help.

# Completes the last of words with commas between; the former stay, and are not offered again.
_erlsnoop_list() {
	local before= word
	[[ $cur == *,* ]] && before=${cur%,*},
	for word in $1; do
		[[ ,$before == *,$word,* ]] || COMPREPLY+=($(compgen -W "$before$word" -- "$cur"))
	done
	[[ $1 != "$_erlsnoop_views" ]] || compopt -o nospace 2>/dev/null
}

_erlsnoop_vms() {
	local all=$(pgrep '^(beam|erlvm)' 2>/dev/null)
	[[ $cur == [0-9]* ]] || all+=" $(erlsnoop list --json 2>/dev/null | sed -n 's/.*"name":"\([A-Za-z0-9@._-]*\)".*/\1/p')"
	COMPREPLY+=($(compgen -W "$all" -- "$cur"))
}

_erlsnoop_files() {
	compopt -o filenames 2>/dev/null
	mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur")
}

_erlsnoop_complete() {
	case $1 in
	views) _erlsnoop_list "$_erlsnoop_views" ;;
	probes) _erlsnoop_list "$_erlsnoop_views $_erlsnoop_probes all" ;;
	vms) _erlsnoop_vms ;;
	files) _erlsnoop_files ;;
	one) COMPREPLY+=($(compgen -W "${*:2}" -- "$cur")) ;;
	esac
}

# A command of ours to start stands after `--`, which is word $1.
_erlsnoop_started() {
	if declare -F _command_offset >/dev/null; then
		_command_offset $(($1 + 1))
	elif ((COMP_CWORD == $1 + 1)); then
		COMPREPLY=($(compgen -c -- "$cur"))
	else
		_erlsnoop_files
	fi
}

_erlsnoop() {
	local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} kind i
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		COMPREPLY=($(compgen -W "$_erlsnoop_commands help --help --version" -- "$cur"))
		return
	fi
	for ((i = 2; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} != -- ]] || { _erlsnoop_started $i; return; }
	done
	if [[ $command == help ]]; then
		((COMP_CWORD > 2)) || COMPREPLY=($(compgen -W "$_erlsnoop_commands" -- "$cur"))
		return
	fi
	[[ -n $command && -n ${_erlsnoop_options[$command]-} ]] || return
	kind=${_erlsnoop_values[$command:$previous]-}
	if [[ -n $kind ]]; then
		_erlsnoop_complete $kind
	elif [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "${_erlsnoop_options[$command]} --" -- "$cur"))
	else
		for kind in ${_erlsnoop_operands[$command]}; do
			_erlsnoop_complete $kind
		done
	fi
}

complete -F _erlsnoop erlsnoop
