# SPDX-License-Identifier: Apache-2.0
#
# bash completion of keyhole. tests/lint/options.sh holds it against the programs' own help.

_keyhole_verbs='record top why report symbolize check check-config help'
_keyhole_formats='folded pprof html svg speedscope firefox otlp otlp-json'
_keyhole_events='cycles cpu-clock task-clock instructions cache-references cache-misses branches branch-misses page-faults minor-faults major-faults context-switches cpu-migrations'
_keyhole_sampled='--all --pid --cgroup --event --frequency --duration --by-thread --comm --uid
	--exclude-pid --exclude-cgroup --kernel --no-kernel --user --no-user --inline --no-inline
	--debug-dir --policy --audit --require --verbose'
_keyhole_record="$_keyhole_sampled --every --output --format --force --quiet --help"
_keyhole_why='--frequency --duration --debug-dir --policy --audit --require --verbose --help'
_keyhole_report='--by --sort --callers --callees --tree --min --diff --per --lines --json --comm --pid
	--object --kernel --no-kernel --sample-type --output --format --by-thread --force --help'
_keyhole_top="$_keyhole_sampled --updates --window --batch --help"
_keyhole_symbolize='--debug-dir --output --force --verbose --help'
_keyhole_check='--json --help'
_keyhole_check_config='--help'

# What an option of a verb takes, by verb and option: words, files, folders, or nothing known.
_keyhole_argument() {
	case "$1 $2" in
	'record -p' | 'record --pid' | 'record --exclude-pid') words=$(cd /proc && printf '%s\n' [0-9]*) ;;
	'record -f' | 'report -f' | *' --format') words=$_keyhole_formats ;;
	'record -e' | 'record --event') words=$_keyhole_events ;;
	'record --uid') words=$(cut -d: -f1 /etc/passwd) ;;
	'record --require' | 'why --require') words='namespaces pid root landlock userns' ;;
	'record -F' | 'record --frequency' | 'why -F' | 'why --frequency') words='99 499 999' ;;
	'record -d' | 'record --duration' | 'why -d' | 'why --duration') words='5 10 60' ;;
	'record --every') words='1 10 60' ;;
	'top -w' | 'top --window') words='1 5 15 60' ;;
	'top -n' | 'top --updates' | 'record --comm') ;;
	'report --by') words='function object process thread reason cgroup' ;;
	'report --sort') words='self total' ;;
	'report --per') words='total time' ;;
	'report --callers' | 'report --callees' | 'report --comm' | 'report --object') ;;
	'report --pid' | 'report --min' | 'report -n' | 'report --lines' | 'report --sample-type') ;;
	*' --cgroup' | 'record --exclude-cgroup') kind=folders at=/sys/fs/cgroup/ ;;
	*' --debug-dir' | 'symbolize -d') kind=folders at=/usr/lib/debug ;;
	*' -o' | *' --output' | *' --audit' | *' --policy') kind=files ;;
	'top '*) _keyhole_argument record "$2" ;;
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
