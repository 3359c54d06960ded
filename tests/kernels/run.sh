#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/kernels/run.sh [KERNEL...]: the built keyhole on the kernels of tests/kernels/matrix, in
# qemu without hardware acceleration, and its BPF objects on the running kernel. KERNELS chooses as
# the arguments do. KERNELS_WAIT=FILE: no guest records before there is this file. KERNELS_BRIEF=1:
# guests record commands, but not the whole machine, late modules or without namespaces. Prints TAP
# and a table. Root is needed for the running kernel alone.

cd "$(dirname "$0")/../.." || exit 1
here=tests/kernels
build=$(realpath "${BUILD:-build}")
loader=$build/tests/kernels/load_objects
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C
INSTRUCTIONS=200000
LOAD_MS=250
GUEST_MS=2190	# the same by the clock of a guest, at 8.75 of its ns to a native one
OBJECTS='walk_loop walk_for walk_loop:on_leave walk_for:on_leave sched off_cpu'
BOOT_SECONDS=600 # of a hang: emulation takes 100 s, and three times that beside other work
CHOSEN='bpf_loop bpf_find_vma bpf_task_pt_regs bpf_get_current_task_btf'	# loader/programs.c
HZ=199
ALL_SECONDS=3

[ $# -gt 0 ] || set -- $KERNELS

skip_all() {
	echo "1..0 # SKIP $*" | tee /dev/stderr
	exit 77
}

[ "$(uname -m)" = x86_64 ] || skip_all 'the kernels are of x86-64'
[ -z "$SANITIZE" ] || skip_all 'the sanitizers are for the suites that need no emulation'
for program in qemu-system-x86_64 busybox cpio python3; do
	command -v $program >/dev/null || skip_all "$program is not installed"
done
for folder in loop for; do
	[ -x "$build/kernels/$folder/keyhole" ] || skip_all 'not built: make check-kernels'
done
top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-kernels.XXXXXX") || exit 1
emulator=
trap '[ -z "$emulator" ] || kill "$emulator"; rm -rf "$top"' EXIT
trap 'exit 1' INT TERM

. tests/kernels/results.sh

skipped() {
	echo "$*"
	return 77
}

# ---- the guest --------------------------------------------------------------------------------

libraries() {	# FILE...
	ldd "$@" 2>/dev/null | grep -oE '/[^ ]+\.so[^ ]*' | sort -u
}

make_root() {
	local root=$top/root name library
	mkdir -p "$root"/{bin,proc,sys,dev,tmp,test/objects}
	chmod 755 "$root"
	cp "$(command -v busybox)" "$root/bin/busybox"
	for name in $(busybox --list); do
		[ "$name" = busybox ] || ln -s busybox "$root/bin/$name"
	done
	install -m 755 $here/init.sh "$root/init"
	cp "$loader" "$build"/workloads/{mixed,publish,signals,waits} "$root/test"
	cp "$build"/bpf/{walk_loop,walk_for,sched,off_cpu}.bpf.o "$root/test/objects"
	for name in kernels/loop kernels/for kernel-walk; do
		install -D -t "$root/test/${name#kernels/}" \
			"$build/$name"/keyhole{,-audit,-broker,-exporter,-kernel-symbols,-options,-output,-worker}
	done
	echo "HZ=$HZ MIXED_SECONDS=${MIXED_SECONDS:-8} SIGNALS_SECONDS=${SIGNALS_SECONDS:-4} ALL_SECONDS=$ALL_SECONDS" \
		>"$root/test/settings"
	for library in $(libraries "$root"/test/{mixed,publish,signals,waits,load_objects} "$root"/test/loop/*); do
		install -D "$library" "$root$library"
	done
	(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet) >"$top/initrd"
}

# Adds what the guest sent to $guest; its console stays beside.
boot() {	# FILE PART ARGUMENTS...
	local kernel=$1 part=$2
	shift 2
	rm -f "$guest/messages"
	timeout -k 5 $BOOT_SECONDS qemu-system-x86_64 -M q35 -cpu max -m 1024 "$@" -display none \
		-nodefaults -no-reboot -kernel "$kernel" -initrd "$guest.initrd" \
		-serial "file:$guest.console" -serial "file:$guest.sent" \
		-append "console=ttyS0 quiet panic=-1 mitigations=off part=$part brief=$KERNELS_BRIEF" \
		</dev/null >"$guest.emulator" 2>&1 &
	emulator=$!
	wait $emulator
	emulator=
	tar -xzf "$guest.sent" -C "$guest" 2>/dev/null && [ -s "$guest/messages" ]
}

# For recordings, two CPUs and real time. For loading, a clock that counts instructions, so that no
# load of this machine changes the result.
boot_to() {	# FILE PART
	case $2 in
	record) boot "$1" "$2" -accel tcg,thread=multi -smp 2 ;;
	load) boot "$1" "$2" -accel tcg,thread=single -icount shift=0,sleep=off -smp 1 ;;
	esac
}

# The RAM disk has the part of all guests, and a module of this kernel.
make_initrd() {	# FILE
	mkdir -p "$guest/root/test"
	cp "$1.ko" "$guest/root/test/module.ko" && cp "$top/initrd" "$guest.initrd" &&
		(cd "$guest/root" && find . | cpio -o -H newc -R 0:0 --quiet) >>"$guest.initrd"
}

# An emulated boot may die of a race that no machine has.
check_boot() {	# FILE PART
	local started=$SECONDS
	make_initrd "$1" || return
	boot_to "$@" || boot_to "$@" || {
		tail -n 20 "$guest.console" "$guest.emulator" | tr -d '\r'
		return 1
	}
	echo "$(cat "$guest/release"), $((SECONDS - started)) s"
	grep '^guest: ' "$guest.console" | tr -d '\r'
	[ "$(cat "$guest/paranoid")" = 3 ] || { echo 'perf_event_paranoid is not 3'; return 1; }
	! grep -E 'BUG:|WARNING:|Oops|Call Trace|general protection|rcu.*stall' "$guest/messages"
}

# ---- loading ----------------------------------------------------------------------------------

# Prints the figures of an object. First come the instructions of all programs and of the largest, both
# in the dearest mode. Then come milliseconds of CPU time in the slowest mode, raw and at native speed,
# and the ratio of the two. Prints "refused" and the reason for an object that cannot be loaded.
figures() {	# LOAD OBJECT
	awk -v object="$2" -v native="$native" '
		$2 != object { next }
		$1 == "program" { sum[$3] += $5; if ($5 > largest) largest = $5 }
		$1 == "object" {
			modes++
			if ($6 != "ok")
				why = $6
			ratio = native && $5 > native ? $5 / native : 1
			if ($4 / ratio > scaled) {
				scaled = $4 / ratio
				raw = $4
			}
		}
		END {
			for (mode in sum)
				if (sum[mode] > most)
					most = sum[mode]
			if (why)
				print "refused", why
			else if (modes != 3)
				print "untried", modes + 0
			else
				printf "%d %d %.1f %.1f %.1f\n", most, largest, raw, scaled, raw / scaled
		}' "$1"
}

# Instructions and milliseconds; or "none", the errno and what the verifier's log must say.
budget() {	# KERNEL OBJECT
	awk -v kernel="$1" -v object="$2" '$1 == kernel && $2 == object {
		sub(/^[^ ]+ +[^ ]+ +/, "")
		print
	}' $here/budget
}

is_loadable() {	# KERNEL OBJECT
	[[ $(budget "$@") != none* ]]
}

check_refusal() {	# KERNEL OBJECT FOLDER WHAT WHY
	local none errno text
	read -r none errno text < <(budget "$1" "$2")
	echo "$4: $5; tests/kernels/budget: $none $errno $text"
	grep -A 20 "^$2" "$3/load.log"
	[ "$4 $5 $none" = "refused $errno none" ] && [ -n "$text" ] &&
		grep -A 20 "^$2" "$3/load.log" | grep -qF "$text"
}

in_time() {	# ALLOWED RAW SCALED: by a guest's clock, natively that of a calm machine
	awk -v allowed="$1" -v raw="$2" -v scaled="$3" -v native=$LOAD_MS -v guest=$GUEST_MS \
		'BEGIN { exit !(allowed == "-" ? scaled <= native : raw <= allowed && raw <= guest) }'
}

check_load() {	# KERNEL OBJECT FOLDER
	local allowed ms instructions largest raw scaled ratio
	read -r allowed ms < <(budget "$1" "$2")
	read -r instructions largest raw scaled ratio < <(figures "$3/load" "$2")
	if [[ $instructions != [0-9]* ]]; then
		check_refusal "$@" "$instructions" "$largest"
		return
	fi
	echo "$instructions instructions, $allowed allowed; largest program $largest"
	echo "$raw ms, $ms allowed; $ratio times as slow as natively at best: $scaled ms"
	[ "$allowed" != none ] || { echo 'tests/kernels/budget says that it cannot be loaded'; return 1; }
	[ "$instructions" -le "$allowed" ] && [ "$instructions" -le $INSTRUCTIONS ] &&
		in_time "$ms" "$raw" "$scaled"
}

# ---- recordings -------------------------------------------------------------------------------

ended() {	# NAME
	[ "$(cat "$guest/$1.status")" = 0 ] && return
	echo "$1: ended with $(cat "$guest/$1.status")"
	cat "$guest/$1.log"
	return 1
}

stacks() {
	python3 tests/e2e/stacks.py check "$@"
}

# Which object -v says was taken, against which one could be loaded.
check_choice() {	# KERNEL
	local helper status=0
	for helper in $CHOSEN; do
		if grep -q "^keyhole: kernel: $helper .*: missing, " "$guest/mixed.log"; then
			! is_loadable "$1" walk_loop
		else
			is_loadable "$1" walk_loop
		fi || { status=1; echo "$helper: not what is expected of this kernel"; }
	done
	grep '^keyhole: kernel: ' "$guest/mixed.log"
	return $status
}

# Function by function, as natively (tests/e2e/unwind.cases); nothing is excused.
check_mixed() {	# NAME
	local recursion='work::thread_main(\([^;]*\))?;(work::recurse(\([^;]*\))?;)'
	ended "$1" && stacks "$guest/$1.folded" mixed --samples 800 --complete 98 --ready 90 \
		--share 98 \
		--chain 'work::less(\(.*)?' 'work::thread_main.*work::sort.*work::less' \
		--chain 'work::spin(\(.*)?' \
			"(functions.*call|alloca_frame|aligned_frame|$recursion{41}).*work::spin" \
		--chain 'work::compare(\(.*)?' 'work::thread_main.*work::callback.*qsort.*work::compare' \
		--chain 'work::raise(\(.*)?' 'work::thread_main.*work::exceptions.*work::raise' \
		--chain 'work::recurse(\(.*)?' "$recursion+"
}

# Signal frames; and samples in the kernel, whose user part starts at what its entry saved.
check_signals() {
	local main='^_start;([^;]+;){1,2}main;' handler='([^;]+;)*'
	ended signals && stacks "$guest/signals.folded" signals --samples 200 --complete 98 --ready 80 \
		--share 98 --chain signals_inner \
			"${main}signals_base;${handler}signals_outer;${handler}signals_inner;" \
		--chain '.*(do|sys)_t?g?kill_\[k\]' "${main}signals_base;"
}

check_all() {
	ended all || return
	local line pattern='taken ([0-9]+), complete ([0-9]+) \([0-9.]+ %\)(, complete \(guessed\) ([0-9]+))?, cut ([0-9]+), .*, lost ([0-9]+)$'
	line=$(grep '^samples: ' "$guest/all.log")
	echo "$line"
	[[ $line =~ $pattern ]] || return
	local taken=${BASH_REMATCH[1]} lost=${BASH_REMATCH[6]} written
	local sum=$((BASH_REMATCH[2] + BASH_REMATCH[4] + BASH_REMATCH[5] + lost))
	written=$(awk '{ sum += $NF } END { print sum }' "$guest/all.folded")
	[ "$taken" -ge $((HZ * ALL_SECONDS / 2)) ] || { echo 'too few samples'; return 1; }
	[ $sum = "$taken" ] || { echo 'complete + guessed + cut + lost is not taken'; return 1; }
	[ $((written + lost)) = "$taken" ] || { echo "written: $written"; return 1; }
	stacks "$guest/all.folded" mixed --samples 100 --complete 98 --ready 50
}

# Functions of a module that came after the start; their names are asked of the kernel (5.13).
check_late_module() {	# KERNEL FILE
	[ -s "$2.ko" ] || { skipped "no module in the package of $1"; return; }
	ended late || return
	local named unknown
	read -r named unknown < <(awk '/^insmod;/ {
			if (/;raid6_[a-z0-9_]+_\[k\]/)
				named += $NF
			if (/kernel unknown/)
				unknown += $NF
		} END { print named + 0, unknown + 0 }' "$guest/late.folded")
	echo "insmod: $named samples in functions of its module, $unknown in unknown ones"
	if [ "$1" = 5.10 ]; then
		[ "$named" = 0 ] && [ "$unknown" -ge 20 ]
	else
		[ "$named" -ge 20 ] && [ "$unknown" = 0 ]
	fi
}

# All time of the guest's CPUs is somebody's, and a command that computes has its own.
check_accounts() {
	ended stat || return
	python3 tests/e2e/stat.py sums "$guest/stat.json" && python3 tests/e2e/stat.py row "$guest/stat.json" \
		busybox cpu_seconds 0.3 60
}

# A CPU that was offline was idle. Those that compute have as much as the kernel says, wherever they run.
check_offline() {
	ended offline || return
	[ "$(tr '\n' ' ' <"$guest/offline.was")" = '0 1 ' ] || { cat "$guest/offline.was"; return 1; }
	python3 tests/e2e/stat.py sums "$guest/offline.json" &&
		python3 tests/e2e/stat.py kernel "$guest/offline.json" busybox &&
		python3 tests/e2e/stat.py row "$guest/offline.json" busybox cpu_seconds 5 60 &&
		python3 tests/e2e/stat.py total "$guest/offline.json" idle_seconds 1 60
}

# A command sleeps, and says for how long. Emulated, a stack takes longer than a window's budget, so few stand for all.
check_off_cpu() {
	ended off_cpu || return
	sed -E 's/^(.{300}).*(.{60})$/\1 ... \2/' "$guest/off_cpu.folded"
	awk '$1 == "nap" { away = $2 * 1000000 }
		/nanosleep_\[k\]/ && /\[off-CPU: sleep\] [0-9]+$/ { sum += $NF }
		END { print "slept:", sum, "us of", away; exit !away || sum < away / 3 || sum > 3 * away }' \
		"$guest/off_cpu.log" "$guest/off_cpu.folded"
}

# No stack that BPF walked by the kernel's tables may differ from the kernel's own walk of it.
check_kernel_stacks() {
	ended kernel_stacks || return
	local name count same given_up=0 different=0
	while read -r name count; do
		case $name in
		lost_throttled:) same=$count ;;
		lost_nested:) given_up=$count ;;
		lost_internal:) different=$count ;;
		esac
	done < <(sed -nE 's/^ *lost +(lost_[a-z]+:) ([0-9]+) .*/\1 \2/p' "$guest/kernel_stacks.log")
	echo "${same:-0} the same, $given_up given up, $different different"
	[ $different = 0 ] && [ "${same:-0}" -ge 100 ] && [ $given_up -le $same ]
}

# The broker finds the mapping by its name, before 6.11 in the text of /proc/PID/maps.
check_context() {	# NAME
	[ -s "$guest/$1.maps" ] || { skipped "this kernel gives no names to memory"; return; }
	cat "$guest/$1.maps"
	ended "$1" && grep -aq 'checkout' "$guest/$1.otlp"
}

# Where user.max_user_namespaces is 0 nothing is missing; where all of them are, it is named.
check_namespaces() {
	local layer said="$guest/no_namespaces.log"
	ended no_user_namespaces && ended no_namespaces || return
	! grep -E ': without (namespaces|pid|root)$' "$guest/no_user_namespaces.log" || return
	for layer in namespaces pid root; do
		grep "keyhole-worker: without $layer$" "$said" || { cat "$said"; return 1; }
	done
	cat "$guest/required.log"
	[ "$(cat "$guest/required.status")" = 1 ] &&
		grep -q 'not confined: namespaces; nothing is sampled' "$guest/required.log"
}

# ---- the table --------------------------------------------------------------------------------

row() {	# KERNEL OBJECT FOLDER RECORDING
	local instructions largest raw scaled ratio samples='-' complete='-' of_all='-'
	read -r instructions largest raw scaled ratio < <(figures "$3/load" "$2")
	[[ $instructions = [0-9]* ]] || { instructions=- largest=- raw=- scaled=-; }
	if [ -s "$3/$4.folded" ] && [ "$instructions" != - ]; then
		read -r samples complete < <(stacks "$3/$4.folded" mixed | head -n 1 |
			sed -E 's/.*mixed: ([0-9]+) samples, .* readiness, ([0-9.]+) % .*/\1 \2/')
		of_all=$(sed -nE 's/^samples: .*\(([0-9.]+) %\).*/\1/p' "$3/$4.log")
	fi
	printf '# | %-7s %-10s %8s %8s %8s %8s %8s %9s %9s\n' "$1" "$2" "$instructions" "$largest" \
		"$raw" "$scaled" "$samples" "$complete" "$of_all" >>"$top/table"
}

rows() {	# KERNEL FOLDER
	local with_for=mixed-for
	is_loadable "$1" walk_loop || with_for=mixed
	row "$1" walk_loop "$2" mixed
	row "$1" walk_for "$2" $with_for
}

printf '# | %-7s %-10s %8s %8s %8s %8s %8s %9s %9s\n' kernel object verified largest 'load ms' \
	scaled samples complete 'of all' >"$top/table"

# The share of an object that walks the frames of runtimes. All runtimes have the same walk.
runtime_row() {	# OBJECT
	local all
	all=$(figures "$top/native/load" "$1" | cut -d' ' -f1)
	"$loader" functions "$build/bpf/$1.bpf.o" 2>>"$top/native/load.log" |
		awk -v object="$1" -v all="$all" '$2 ~ /^runtime_|^tell_code$/ { sum += $3; list = list " " $2 " " $3 }
			END {
				printf "%s: %d of %d instructions, %.1f %% of the time to load:%s\n",
					object, sum, all, 100 * sum / all, list
				exit !sum
			}'
}

# ---- run --------------------------------------------------------------------------------------

load_natively() {
	[ "$(id -u)" = 0 ] || skipped 'needs root' || return
	"$loader" 5 "$build"/bpf/{walk_loop,walk_for,sched,off_cpu}.bpf.o \
		"$build"/bpf/walk_{loop,for}.bpf.o:on_leave >"$top/native/load" 2>"$top/native/load.log"
}

# The best of all times so far: others may keep the machine busy.
calibrate() {	# TIMES
	local now i
	for ((i = 0; i < $1; i++)); do
		now=$("$loader" | sed -n 's/^calibration //p')
		[ -n "$native" ] && [ "$native" -lt "$now" ] || native=$now
		sleep 0.2
	done
}

native=
mkdir "$top/native"
calibrate 10
if result 'native: objects' load_natively; then
	for object in $OBJECTS; do
		result "native: $object" check_load native $object "$top/native"
	done
	rows native "$top/native"
	for object in walk_loop walk_for; do
		result "native: $object: runtimes" runtime_row $object
	done
fi

load_on() {	# KERNEL FILE|- REASON
	[ "$2" != - ] || { result "$1" skipped "$3"; return; }
	guest=$top/$1
	mkdir "$guest"
	calibrate 1
	result "$1: boot to load" check_boot "$2" load || return
	for object in $OBJECTS; do
		result "$1: $object" check_load "$1" $object "$guest"
	done
	touch "$guest/loaded"
}

result_unless_brief() {	# NAME COMMAND...
	[ -z "$KERNELS_BRIEF" ] || set -- "$1" skipped 'KERNELS_BRIEF: make check-kernels runs it'
	result "$@"
}

check_rest() {	# KERNEL FILE
	! is_loadable "$1" walk_loop || result_unless_brief "$1: mixed, walk_for" check_mixed mixed-for
	result_unless_brief "$1: whole machine" check_all
	result_unless_brief "$1: process context in a memfd" check_context memfd
	result_unless_brief "$1: process context in named memory" check_context named
	result_unless_brief "$1: module inserted after the start" check_late_module "$@"
	result_unless_brief "$1: user.max_*_namespaces=0" check_namespaces
}

record_on() {	# KERNEL FILE|-
	guest=$top/$1
	[ "$2" != - ] && [ -e "$guest/loaded" ] || return
	result "$1: boot to record" check_boot "$2" record || return
	result "$1: choice of the object" check_choice "$1"
	result "$1: mixed" check_mixed mixed
	result "$1: signals and system calls" check_signals
	result "$1: accounts" check_accounts
	result "$1: accounts, with a CPU that goes and comes back" check_offline
	result "$1: off-CPU" check_off_cpu
	result "$1: kernel stacks" check_kernel_stacks
	check_rest "$@"
	rows "$1" "$guest"
}

# Each kernel that is wanted was there or is missing for a reason; a mirror that answers had one.
check_matrix() {	# KERNEL...
	local wanted=("$@") kernel file reason status=0
	[ $# -gt 0 ] || mapfile -t wanted < <(awk 'NF && !/^#/ { print $1 }' $here/matrix)
	for kernel in "${wanted[@]}"; do
		read -r file reason < <(sed -n "s/^${kernel//./\\.} //p" "$top/fetched")
		[ "$file" = - ] || [ -s "$file" ] || { echo "$kernel: not fetched"; status=1; }
		[ "$file" != - ] || [ -n "$reason" ] || { echo "$kernel: no reason"; status=1; }
	done
	if [ $status = 0 ] && [ $fetched = 77 ]; then
		skipped 'not one kernel: no mirror can be reached'
		return
	fi
	[ $status$fetched = 00 ] && return
	tail -n 5 "$top/fetch.log"
	return 1
}

make_root
$here/fetch.sh "$@" >"$top/fetched" 2>"$top/fetch.log"
fetched=$?
on_each() {	# FUNCTION
	while read -r kernel file reason; do
		$1 "$kernel" "$file" "$reason"
	done <"$top/fetched"
}

on_each load_on
# Loading needs one CPU and is the same beside others; recording needs two.
until [ -z "$KERNELS_WAIT" ] || [ -e "$KERNELS_WAIT" ]; do
	sleep 0.5
done
on_each record_on
result 'matrix' check_matrix "$@"
cat "$top/table"
echo "1..$number"
exit $failed
