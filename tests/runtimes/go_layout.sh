#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/go_layout.sh [VERSION...]: prints offsets in the structures of Go's runtime, by version.
# They come from the debug information of a program that this version has built. Toolchains are Go
# modules. Exits with 1 where an offset is another one than in bpf/walk/go.bpf.h and bpf/abi.h.

cd "$(dirname "$0")/../.." || exit 1
[ $# -gt 0 ] || set -- 1.16.15 1.17.13 1.18.10 1.19.13 1.20.14 1.21.13 1.22.12 1.23.12 1.24.13 1.25.6 1.26.0
folder=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-go.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
export GO111MODULE=off GOENV=off GOFLAGS= GOTOOLCHAIN=local GOCACHE=$folder/cache CGO_ENABLED=0 LC_ALL=C

# root VERSION: the folder of a toolchain, whose programs a module holds without their modes.
root() {
	local there
	there=$(GO111MODULE=on go mod download -json "golang.org/toolchain@v0.0.1-go$1.linux-amd64" |
		sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
	[ -n "$there" ] && chmod -R u+w "$there/bin" "$there/pkg" &&
		chmod +x "$there"/bin/* "$there"/pkg/tool/linux_amd64/* && echo "$there"
}

# member PROGRAM STRUCT NAME: its offset.
member() {
	readelf --debug-dump=info "$1" 2>/dev/null | awk -v struct="$2" -v name="$3" '
		/DW_TAG_structure_type/ { inside = 0; fresh = 1 }
		fresh && /DW_AT_name/ { inside = $NF == struct; fresh = 0; next }
		inside && /DW_TAG_member/ { member = "" }
		inside && /DW_AT_name/ { member = $NF }
		inside && /DW_AT_data_member_location/ && member == name { print $NF; exit }'
}

failed=0
for version; do
	there=$(root "$version") && (cd tests/e2e/workloads/gostacks &&
		GOROOT=$there "$there/bin/go" build -ldflags=-compressdwarf=false -o "$folder/program" .) || {
		echo "$version: no program"
		failed=1
		continue
	}
	sched=$(member "$folder/program" runtime.g sched)
	line="g.m $(member "$folder/program" runtime.g m)"
	for name in sp pc g bp; do
		line="$line sched.$name $((sched + $(member "$folder/program" runtime.gobuf $name)))"
	done
	current=$(member "$folder/program" runtime.m curg)
	line="$line m.g0 $(member "$folder/program" runtime.m g0) m.curg $current"
	case $current in
	192) expected='g.m 48 sched.sp 56 sched.pc 64 sched.g 72 sched.bp 104 m.g0 0 m.curg 192' ;;
	*) expected='g.m 48 sched.sp 56 sched.pc 64 sched.g 72 sched.bp 96 m.g0 0 m.curg 184' ;;
	esac
	echo "$version: $line labels $(member "$folder/program" runtime.g labels) goid $(member "$folder/program" runtime.g goid)"
	[ "$line" = "$expected" ] || { echo "  expected: $expected"; failed=1; }
done
exit $failed
