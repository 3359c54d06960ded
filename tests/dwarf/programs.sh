# SPDX-License-Identifier: Apache-2.0
#
# Sourced. make_programs FOLDER: tests/dwarf/program.cc and others by the compilers that are there,
# one below FOLDER for each way; prints their names. ADDRESSES and addresses FILE: of its text.

make_programs() {
	local flags name
	while read -r name flags; do
		$flags -o "$1/$name" tests/dwarf/program.cc -lpthread 2>"$1/err" && echo "$name"
	done <<-END
		gcc-5 g++ -O2 -g -gdwarf-5
		gcc-4 g++ -O2 -g -gdwarf-4
		gcc-5-64 g++ -O2 -g -gdwarf-5 -gdwarf64
		gcc-lto g++ -O2 -g -flto
		gcc-compressed g++ -O2 -g -gz
		gcc-O0 g++ -O0 -g
		clang-5 clang++ -O2 -gdwarf-5
		clang-4 clang++ -O2 -gdwarf-4
	END
	if command -v dwz >/dev/null && [ -e "$1/gcc-4" ]; then
		cp "$1/gcc-4" "$1/dwz" && cp "$1/gcc-4" "$1/dwz-other"
		dwz -m "$1/dwz.alternate" "$1/dwz" "$1/dwz-other" 2>"$1/err" && echo dwz
	fi
	if command -v rustc >/dev/null; then
		rustc -O -g -o "$1/rust" tests/dwarf/program.rs 2>"$1/err" && echo rust
	fi
	if command -v go >/dev/null; then
		GOCACHE="${GOCACHE:-$(realpath "${BUILD:-build}")/go-cache}" GO111MODULE=off go build -o "$1/go" tests/dwarf/program.go \
			2>"$1/err" && echo go
	fi
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
