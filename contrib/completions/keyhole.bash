# SPDX-License-Identifier: Apache-2.0
#
# bash completion of keyhole. tests/lint/options.sh holds it against the programs' own help.

_keyhole_verbs='record check help'
_keyhole_record='--all --pid --cgroup --frequency --duration --output --format --force --by-thread
	--audit --require --quiet --verbose --help'
_keyhole_check='--json --help'

_keyhole() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words='' i
	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$_keyhole_verbs --help --version" -- "$word")
		return
	fi
	for ((i = 2; i < COMP_CWORD; i++)); do
		[ "${COMP_WORDS[i]}" = -- ] || continue
		declare -F _command_offset >/dev/null && _command_offset $((i + 1))
		return
	done
	case ${COMP_WORDS[1]} in
	record)
		case $before in
		-p | --pid) words=$(cd /proc && printf '%s\n' [0-9]*) ;;
		-f | --format) words='folded pprof' ;;
		--require) words='namespaces pid root landlock userns' ;;
		-F | --frequency) words='99 499 999' ;;
		-d | --duration) words='10 60' ;;
		--cgroup)
			mapfile -t COMPREPLY < <(compgen -d -- "${word:-/sys/fs/cgroup/}")
			return
			;;
		-o | --output | --audit)
			mapfile -t COMPREPLY < <(compgen -f -- "$word")
			return
			;;
		*) words="$_keyhole_record --" ;;
		esac
		;;
	check) words=$_keyhole_check ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o filenames -F _keyhole keyhole
