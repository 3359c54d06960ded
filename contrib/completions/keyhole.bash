# SPDX-License-Identifier: Apache-2.0
#
# bash completion of keyhole. tests/lint/options.sh holds it against the programs' own help.

_keyhole_verbs='record top report symbolize check check-config help'
_keyhole_formats='folded pprof html svg speedscope firefox otlp otlp-json'
_keyhole_record='--all --pid --cgroup --frequency --duration --every --output --format --force --by-thread
	--debug-dir --policy --audit --require --quiet --verbose --help'
_keyhole_report='--by --sort --callers --callees --tree --min --diff --per --lines --json --comm --pid
	--object --kernel --no-kernel --sample-type --output --format --by-thread --force --help'
_keyhole_top='--updates --window --batch --help'
_keyhole_symbolize='--debug-dir --output --force --verbose --help'
_keyhole_check='--json --help'
_keyhole_check_config='--help'

# What an option of a verb takes, by verb and option: words, files, folders, or nothing known.
_keyhole_argument() {
	case "$1 $2" in
	'record -p' | 'record --pid') words=$(cd /proc && printf '%s\n' [0-9]*) ;;
	*' -f' | *' --format') words=$_keyhole_formats ;;
	'record --require') words='namespaces pid root landlock userns' ;;
	'record -F' | 'record --frequency') words='99 499 999' ;;
	'record -d' | 'record --duration') words='10 60' ;;
	'report --by') words='function object process thread reason cgroup' ;;
	'report --sort') words='self total' ;;
	'report --per') words='total time' ;;
	'report --callers' | 'report --callees' | 'report --comm' | 'report --object') ;;
	'report --pid' | 'report --min' | 'report -n' | 'report --lines' | 'report --sample-type') ;;
	*' --cgroup') kind=folders at=/sys/fs/cgroup/ ;;
	*' --debug-dir' | 'symbolize -d') kind=folders at=/usr/lib/debug ;;
	*' -o' | *' --output' | *' --audit' | *' --policy') kind=files ;;
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
		record:*) words=-- ;;
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
