# SPDX-License-Identifier: Apache-2.0
#
# Sourced, where $build is the build. program WAY: prints the path of tests/dwarf/program.* as a WAY
# makes it; without one, prints nothing. A program is made once and kept. ways: prints all ways, or
# those of them that the regular expression WAYS matches. addresses FILE COUNT: of its text.

made=$build/dwarf

ways() {
	printf '%s\n' gcc-5 gcc-4 gcc-5-64 gcc-lto gcc-compressed gcc-O0 clang-5 clang-4 dwz rust go |
		grep -Ex -- "${WAYS:-.*}"
}

compiled() {	# FILE COMPILER FLAGS...
	command -v "$2" >/dev/null && "${@:2}" -Wl,--build-id=sha1 -o "$1" tests/dwarf/program.cc -lpthread
}

# FILE WAY
make_program() {
	case $2 in
	gcc-5) compiled "$1" g++ -O2 -gdwarf-5 ;;
	gcc-4) compiled "$1" g++ -O2 -gdwarf-4 -DWITHOUT_REGEX ;;
	gcc-5-64) compiled "$1" g++ -O2 -gdwarf-5 -gdwarf64 ;;
	gcc-lto) compiled "$1" g++ -O2 -g -flto -DWITHOUT_REGEX ;;
	gcc-compressed) objcopy --compress-debug-sections=zlib "$(program gcc-5)" "$1" ;;
	gcc-split) compiled "$1" g++ -O2 -gdwarf-5 -gsplit-dwarf -DWITHOUT_REGEX ;;
	gcc-O0) compiled "$1" g++ -O0 -g -DWITHOUT_REGEX ;;
	clang-5) compiled "$1" clang++ -O2 -gdwarf-5 ;;
	clang-4) compiled "$1" clang++ -O2 -gdwarf-4 ;;
	dwz) shrunk "$1" ;;
	rust) command -v rustc >/dev/null && rustc -O -g -o "$1" tests/dwarf/program.rs ;;
	go)
		command -v go >/dev/null && HOME=$build GOCACHE="${GOCACHE:-$build/go-cache}" \
			GOTOOLCHAIN=local CGO_ENABLED=0 GO111MODULE=off \
			go build -o "$1" tests/dwarf/program.go
		;;
	esac
}

# Leaves what it shares with another program in FILE.alternate.
shrunk() {	# FILE
	command -v dwz >/dev/null && cp "$(program gcc-4)" "$1" && cp "$1" "$1.other" &&
		(cd "${1%/*}" && dwz -m "${1##*/}.alternate" "${1##*/}" "${1##*/}.other")
}

# A change of a source, or of a way, makes all anew.
is_kept() {	# FILE
	[ -e "$1" ] && [ -z "$(find tests/dwarf -name 'program*' -newer "$1")" ]
}

# A way that fails leaves no program.
program() {	# WAY
	local file=$made/$1
	mkdir -p "$made"
	(
		flock 9
		is_kept "$file" || make_program "$file" "$1" >"$file.log" 2>&1 ||
			{ rm -f "$file"; exit; }
		echo "$file"
	) 9>"$file.lock"
}

addresses() {	# FILE COUNT: spread over .text, ascending
	readelf -SW "$1" | sed -nE 's/^ *\[ *[0-9]+\] \.text +[A-Z]+ +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+) .*/\1 \2/p' |
		while read -r start size; do
			awk -v start=$((16#$start)) -v size=$((16#$size)) -v count="$2" 'BEGIN {
				step = size > count ? size / count : 1
				for (at = 0; at < size; at += step) printf "0x%x\n", start + int(at)
			}'
		done
}
