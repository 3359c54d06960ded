#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Commands, options, formats and layers in contrib/man and contrib/completions are those that the
# programs themselves say: a page for each command, no option more and none less.

build=$(realpath "${BUILD:-build}")
man=contrib/man
completions=contrib/completions
failed=0

same() {	# WHAT WANTED HAVE, each a list with a word a line
	[ "$2" = "$3" ] && return
	echo "$1: not as the program says; < only there, > only here"
	diff <(echo "$2") <(echo "$3") | grep '^[<>]'
	failed=1
}

words() {
	sort -u | grep .
}

helped() {	# VERB: its long options, of its own help
	"$build/keyhole" "$1" --help | sed '/^examples:/,$d; /^       keyhole/d' |
		grep -oE -- '(^|[^-a-z])--[a-z][a-z-]+' | grep -oE -- '--[a-z-]+' |
		(cat; echo --help) | words
}

parsed() {	# VERB: those of its parser's table, where it has one
	local table='longs' source="helper/options/*.c"
	case $1 in
	record) ;;
	report) source='view/report/options.c' ;;
	symbolize | top) source="$1/*.c" ;;
	*) table=${1}_longs ;;
	esac
	sed -nE "/^\t*(static )?const struct option $table\[\] = \{/,/^\t*\};/ s/^\t+\{\"([a-z-]+)\",.*/--\1/p" $source | words
}

in_page() {	# FILE: those that head an item of a list
	grep -E '^\.It .*Fl|^\.Op .*Fl -help' "$1" | grep -oE '(^| )-[a-z][a-z-]+' | tr -d ' ' | sed 's/^/-/' |
		words
}

in_bash() {	# VERB: those that completion offers
	bash -c '. "$0"; COMP_WORDS=(keyhole "$1" --); COMP_CWORD=2; _keyhole; printf "%s\n" "${COMPREPLY[@]}"' \
		$completions/keyhole.bash "$1" | grep -E -- '--.' | words
}

zsh_of() {	# VERB: its lines, with what it has in common with another one
	sed -n "/^\t$1)/,/;;/p" $completions/_keyhole
	! sed -n "/^\t$1)/,/;;/p" $completions/_keyhole | grep -qF '$sampled' ||
		sed -n '/^\tsampled=(/,/^\t)/p' $completions/_keyhole
}

in_zsh() {
	zsh_of "$1" | sed "s/'([^)]*)//g; s/\[[^]]*\]//g" | grep -oE -- '--[a-z][a-z-]+' | words
}

fish_of() {
	grep -F -- "-n \$${1//-/_} " $completions/keyhole.fish
	! sed -n "s/^set -l sampled //p" $completions/keyhole.fish | grep -qw -- "$1" ||
		grep -F -- '-n $sampled ' $completions/keyhole.fish
}

in_fish() {
	fish_of "$1" | grep -oE -- ' -l [a-z-]+' | sed 's/ -l /--/' | words
}

handed_on() {	# of record by top: those that it does not refuse
	helped record | grep -vxFf <(sed -nE 's/^\t*\{"(--[a-z]+)", .*/\1/p' view/top/options.c)
}

list() {	# what is separated by blanks
	tr ' ' '\n' | words
}

verbs=$("$build/keyhole" help | sed -nE 's/^(usage:|      ) keyhole ([a-z-]+) .*/\2/p' | words)
for verb in $verbs; do
	page=$man/keyhole-$verb.1
	[ -f "$page" ] || { echo "$page: missing"; failed=1; continue; }
	options=$(helped "$verb")
	table=$(parsed "$verb")
	[ -z "$table" ] || same "help of $verb" "$table" "$options"
	same "$page" "$options" "$(in_page "$page")"
	[ "$verb" != top ] || options=$({ echo "$options"; handed_on; } | words)
	for shell in bash zsh fish; do
		same "$completions, $shell, $verb" "$options" "$(in_$shell "$verb")"
	done
	# short forms: by the letter before the long name
	"$build/keyhole" "$verb" --help | sed -nE 's/^ +-([a-zA-Z]), --([a-z-]+).*/\1 \2/p' |
		while read -r short long; do
			grep -qE "^\.It Fl $short , -$long( |\$)" "$page" || echo "$page: no -$short, --$long"
			fish_of "$verb" | grep -qE -- "-s $short -l $long " ||
				echo "$completions/keyhole.fish, $verb: no -$short, --$long"
			zsh_of "$verb" | grep -qF -- "{-$short,--$long}" ||
				echo "$completions/_keyhole, $verb: no -$short, --$long"
		done | grep . && failed=1
	for other in $man/keyhole.1 $page; do
		[ "$other" = "$man/keyhole-$verb.1" ] || grep -qF ".Xr keyhole-$verb 1" "$other" ||
			{ echo "$other: no reference to keyhole-$verb"; failed=1; }
	done
done
verbs=$(printf '%s\n' $verbs help | words)
same "$man/keyhole.1" "$verbs" "$(sed -nE 's/^\.It Cm ([a-z-]+).*/\1/p' $man/keyhole.1 | words)"
same "$completions/keyhole.bash" "$verbs" \
	"$(sed -nE "s/^_keyhole_verbs='(.*)'/\1/p" $completions/keyhole.bash | list)"
same "$completions/keyhole.fish" "$verbs" \
	"$(sed -nE 's/^.*__fish_use_subcommand -a ([a-z-]+).*/\1/p' $completions/keyhole.fish | words)"
same "$completions/_keyhole" "$verbs" \
	"$(sed -nE "/verbs=\(/,/^\t\)/s/^\t\t'([a-z-]+):.*/\1/p" $completions/_keyhole | words)"

formats=$(sed -nE 's/^F\([0-9]+, ([a-z0-9_]+), "(.*)"\)$/\1/p' ipc/formats.def | tr _ - | words)
same "$man/keyhole-record.1, formats" "$formats" \
	"$(sed -nE '/^\.It Fl f ,/,/^\.El/ s/^\.It Cm ([a-z0-9-]+)$/\1/p' $man/keyhole-record.1 | words)"
same "$completions/keyhole.bash, formats" "$formats" \
	"$(sed -nE "s/^_keyhole_formats='(.*)'/\1/p" $completions/keyhole.bash | list)"
same "$completions/keyhole.fish, formats" "$formats" \
	"$(sed -nE 's/^set -l formats (.*)/\1/p' $completions/keyhole.fish | list)"
same "$completions/_keyhole, formats" "$formats" \
	"$(sed -nE "s/^\tlocal formats='(.*)'/\1/p" $completions/_keyhole | list)"
sed -nE 's/^F\([0-9]+, [a-z0-9_]+, "(.*)"\)$/\1/p' ipc/formats.def | while read -r suffix; do
	grep -qxF ".Pq Pa $suffix" $man/keyhole-record.1 || echo "$man/keyhole-record.1: no $suffix"
done | grep . && failed=1

events=$(sed -nE 's/^E\("([a-z-]+)",.*/\1/p' ipc/events.def | words)
same "$man/keyhole-record.1, events" "$events" "$(sed -n '/^\.Sh EVENTS/,/^\.Sh ENV/p' $man/keyhole-record.1 |
	grep '^\.Cm' | tr -d ',.' | sed 's/^Cm//' | list)"
same "$completions/keyhole.bash, events" "$events" \
	"$(sed -nE "s/^_keyhole_events='(.*)'/\1/p" $completions/keyhole.bash | list)"
same "$completions/keyhole.fish, events" "$events" \
	"$(sed -nE 's/^set -l events (.*)/\1/p' $completions/keyhole.fish | list)"
same "$completions/_keyhole, events" "$events" \
	"$(sed -nE "s/^\tlocal events='(.*)'/\1/p" $completions/_keyhole | list)"

layers=$("$build/keyhole" record --help | sed -nE 's/.*do not start without: //p' | tr ',' '\n'; echo userns)
layers=$(words <<<"$layers")
same "$completions, bash, layers" "$layers" \
	"$(sed -nE "s/.*--require'\) words='(.*)'.*/\1/p" $completions/keyhole.bash | list)"
same "$completions, fish, layers" "$layers" \
	"$(sed -nE "s/.*-l require -x -a '([^']*)'.*/\1/p" $completions/keyhole.fish | list)"
same "$completions, zsh, layers" "$layers" \
	"$(sed -nE "s/.*_values -s , layer ([a-z ]*)'.*/\1/p" $completions/_keyhole | list)"
for rule in $(sed -nE 's/^\t\[ROW_[A-Z]+\] = "([a-z -]+) ",$/\1/p' helper/rules/parser.c | tr ' ' _); do
	grep -q "^\.It Cm ${rule//_/ } Ar" $man/keyhole-policy.conf.5 ||
		{ echo "$man/keyhole-policy.conf.5: no rule ${rule//_/ }"; failed=1; }
done
exit $failed
