# SPDX-License-Identifier: Apache-2.0
#
# bash completion of keyhole. contrib/documents fills in the lines between @, of the options.def
# files.

@bash-words@

# Sets what an option of a verb takes: words, or the kind of files and a folder to begin at.
_keyhole_argument() {
	case "$1 $2" in
@bash-arguments@
	*) return 1 ;;
	esac
}

_keyhole() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb=${COMP_WORDS[1]}
	local words='' kind='' at='' options=_keyhole_${COMP_WORDS[1]//-/_} i
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
	if ! _keyhole_argument "$verb" "$before"; then
		case $verb:$word in
		report:* | symbolize:* | check-config:*) [[ $word == -* ]] || kind=files ;;
		record:* | stat:*) words=-- ;;
		help:*) words=$_keyhole_verbs ;;
		why:*) words=$(cd /proc && printf '%s\n' [0-9]*) ;;
		esac
		[ -n "$kind" ] || words="${!options} $words"
	fi
	case $kind in
	files) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
	folders) mapfile -t COMPREPLY < <(compgen -d -- "${word:-$at}") ;;
	*) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word") ;;
	esac
}

complete -o filenames -F _keyhole keyhole
