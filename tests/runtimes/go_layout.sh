#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/runtimes/go_layout.sh [VERSION...]: prints offsets in the structures of Go's runtime, by version.
# They come from the debug information of a program that this version has built. Toolchains are Go
# modules. Exits with 1 where an offset is another one than in bpf/walk/go.bpf.h and bpf/abi.h.

cd "$(dirname "$0")/../.." || exit 1
. tests/runtimes/go_versions.sh
[ $# -gt 0 ] || set -- $go_versions
folder=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-go.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
export GOCACHE=$folder/cache CGO_ENABLED=0 LC_ALL=C

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
	there=$(go_root "$version") && (cd tests/e2e/workloads/gostacks &&
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
