#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/kernels/pmu.sh: opens every event of ipc/events.def by the loader's code. This happens on the
# running kernel, which needs root, and in an arm64 guest with an emulated PMU. The clock of the guest
# counts instructions: one a cycle, at 1 GHz. Prints TAP.

cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
export LC_ALL=C
KERNEL=6.12
BOOT_SECONDS=180

top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-pmu.XXXXXX") || exit 1
emulator=
trap '[ -z "$emulator" ] || kill "$emulator"; rm -rf "$top"' EXIT
trap 'exit 1' INT TERM

. tests/kernels/results.sh

lacks() {	# WHAT: skips
	echo "$*"
	exit 77
}

# line FILE EVENT PERIOD LEAST MOST: LEAST to MOST calls for each 100 ms, or "refused", as it says.
line() {
	awk -v event="$2" -v period="$3" -v least="$4" -v most="$5" '
		$1 == event && $2 == period {
			found = 1
			if (least == "refused")
				good = $3 == "refused" && ($4 == 2 || $4 == 95)
			else
				good = $3 != "refused" && $4 * 100 >= least * $3 && $4 * 100 <= most * $3
			if (!good)
				print "wanted", least, most ": " $0
		}
		END { exit !(found && good) }' "$1" || { echo "$2 $3: not so"; bad=1; }
}

software() {	# FILE LEAST MOST: of a clock's 100 us; the others happen as often as they are made to
	line "$1" cpu-clock 100000 "$2" "$3"
	line "$1" task-clock 100000 "$2" "$3"
	line "$1" cpu-clock 0 1 99
	line "$1" task-clock 0 1 99
	line "$1" page-faults 1 10 100000000
	line "$1" minor-faults 1 10 100000000
	line "$1" context-switches 1 10 100000000
	line "$1" major-faults 1 0 100000000
	line "$1" cpu-migrations 1 0 100000000
}

ends() {	# FILE
	cat "$1"
	grep -q '^end' "$1"
}

native() (
	[ "$(id -u)" = 0 ] || lacks 'needs root: sudo make check-pmu'
	"$build/kernels/open_events" >"$top/native" 2>&1
	ends "$top/native" || exit 1
	bad=0
	software "$top/native" 50 $((1100 * $(nproc)))
	[ -e /sys/bus/event_source/devices/cpu ] ||
		for event in 'cycles 0' 'cycles 1000000' 'instructions 10000019' 'branch-misses 10007'; do
			line "$top/native" $event refused
		done
	exit $bad
)

guest() (
	for program in qemu-system-aarch64 aarch64-linux-gnu-gcc cpio; do
		command -v $program >/dev/null || lacks "$program is not installed"
	done
	read -r kernel file reason < <(KERNEL_ARCH=arm64 tests/kernels/fetch.sh $KERNEL 2>&1)
	[ -s "$file" ] || lacks "$kernel: $reason"
	mkdir "$top/root"
	aarch64-linux-gnu-gcc -static -std=gnu11 -D_GNU_SOURCE -iquote . -O2 -o "$top/root/init" \
		tests/kernels/open_events.c loader/events.c || exit 1
	mkdir "$top/root/dev"
	(cd "$top/root" && find . | cpio -o -H newc -R 0:0 --quiet) >"$top/initrd"
	timeout -k 5 $BOOT_SECONDS qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on -m 512 -smp 1 \
		-accel tcg,thread=single -icount shift=0,sleep=off -display none -nodefaults -no-reboot \
		-kernel "$file" -initrd "$top/initrd" -serial "file:$top/console" \
		-append 'console=ttyAMA0 quiet panic=-1 mitigations=off' </dev/null >"$top/emulator" 2>&1 &
	emulator=$!
	trap 'kill $emulator 2>/dev/null' EXIT
	wait $emulator
	tr -d '\r' <"$top/console" >"$top/guest"
	ends "$top/guest" || { cat "$top/emulator"; exit 1; }
	bad=0
	software "$top/guest" 900 1000
	line "$top/guest" cycles 0 2 10
	line "$top/guest" cycles 1000000 95 105
	line "$top/guest" instructions 10000019 8 11
	for event in 'cache-references 100003' 'cache-misses 10007' 'branches 1000003' 'branch-misses 10007'; do
		line "$top/guest" $event refused
	done
	exit $bad
)

result 'events of the running kernel' native
result 'events of an arm64 guest, whose PMU has cycles and instructions' guest
echo "1..$number"
exit $failed
