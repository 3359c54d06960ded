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
		 grep -oE -- '(^|[^-a-z])--[a-z][a-z-]+' |
		grep -oE -- '--[a-z-]+' | (cat; echo --help) | words
}

in_page() {	# FILE: those that head an item of a list
	grep -E '^\.It .*Fl|^\.Op .*Fl -help' "$1" | grep -oE '(^| )-[a-z][a-z-]+' | tr -d ' ' | sed 's/^/-/' |
		words
}

in_bash() {	# VERB: those that completion offers
	bash -c '. "$0"; COMP_WORDS=(keyhole "$1" --); COMP_CWORD=2; _keyhole; printf "%s\n" "${COMPREPLY[@]}"' \
		$completions/keyhole.bash "$1" | grep -E -- '--.' | words
}

in_zsh() {
	sed -n "/^\t$1)/,/;;/p" $completions/_keyhole | sed "s/'([^)]*)//g; s/\[[^]]*\]//g" |
		grep -oE -- '--[a-z][a-z-]+' | words
}

in_fish() {
	grep -F -- "-n \$$1 " $completions/keyhole.fish | grep -oE -- ' -l [a-z-]+' | sed 's/ -l /--/' | words
}

verbs=$(echo record; sed -nE 's/^V\(([a-z]+),.*/\1/p' ipc/verbs.def)
for verb in $verbs; do
	page=$man/keyhole-$verb.1
	[ -f "$page" ] || { echo "$page: missing"; failed=1; continue; }
	options=$(helped "$verb")
	same "$page" "$options" "$(in_page "$page")"
	for shell in bash zsh fish; do
		same "$completions, $shell, $verb" "$options" "$(in_$shell "$verb")"
	done
	# short forms: by the letter before the long name
	"$build/keyhole" "$verb" --help | sed -nE 's/^ +-([a-zA-Z]), --([a-z-]+).*/\1 \2/p' |
		while read -r short long; do
			grep -qE "^\.It Fl $short , -$long( |\$)" "$page" || echo "$page: no -$short, --$long"
			grep -qE -- "-s $short -l $long " $completions/keyhole.fish ||
				echo "$completions/keyhole.fish: no -$short, --$long"
			grep -qF -- "{-$short,--$long}" $completions/_keyhole ||
				echo "$completions/_keyhole: no -$short, --$long"
		done | grep . && failed=1
done
same "$man/keyhole.1" "$(printf '%s\n' $verbs help | words)" \
	"$(sed -nE 's/^\.It Cm ([a-z]+).*/\1/p' $man/keyhole.1 | words)"
same "$completions/keyhole.bash" "$(printf '%s\n' $verbs help | words)" \
	"$(sed -nE "s/^_keyhole_verbs='(.*)'/\1/p" $completions/keyhole.bash | tr ' ' '\n' | words)"
same "$completions/keyhole.fish" "$(printf '%s\n' $verbs help | words)" \
	"$(sed -nE 's/^.*__fish_use_subcommand -a ([a-z]+).*/\1/p' $completions/keyhole.fish | words)"
same "$completions/_keyhole" "$(printf '%s\n' $verbs help | words)" \
	"$(grep "'1:command:" $completions/_keyhole | grep -oE '[a-z]+\\:' | tr -d '\\:' | words)"

formats=$(sed -nE 's/^F\([0-9]+, ([a-z0-9_]+), "(.*)"\)$/\1/p' ipc/formats.def | words)
same "$man/keyhole-record.1, formats" "$formats" \
	"$(sed -nE '/^\.It Fl f ,/,/^\.El/ s/^\.It Cm ([a-z0-9_]+)$/\1/p' $man/keyhole-record.1 | words)"
same "$completions/keyhole.bash, formats" "$formats" \
	"$(sed -nE "s/.*--format\) words='(.*)'.*/\1/p" $completions/keyhole.bash | tr ' ' '\n' | words)"
same "$completions/keyhole.fish, formats" "$formats" \
	"$(sed -nE "s/.*-l format -x -a '([^']*)'.*/\1/p" $completions/keyhole.fish | tr ' ' '\n' | words)"
same "$completions/_keyhole, formats" "$formats" \
	"$(sed -nE 's/.*:format:\((.*)\).*/\1/p' $completions/_keyhole | tr ' ' '\n' | words)"

layers=$("$build/keyhole" record --help | sed -nE 's/.*do not start without: //p' | tr ',' '\n'; echo userns)
layers=$(words <<<"$layers")
for where in "bash s/.*--require\\) words='(.*)'.*/\\1/p" "fish s/.*-l require -x -a '([^']*)'.*/\\1/p"; do
	same "$completions, ${where%% *}, layers" "$layers" \
		"$(sed -nE "${where#* }" $completions/keyhole.${where%% *} | tr ' ' '\n' | words)"
done
exit $failed
