#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/systemd/run.sh: tests the units of contrib/systemd in a machine with a real systemd. The machine is
# emulated without hardware acceleration: Debian of this release on a kernel of tests/kernels/matrix.
# systemd is process 1 of the host's own pid namespace there, which no container has.
# tests/systemd/guest.py runs inside. Prints TAP. Root, for the ownership of the guest's files.
# AWAY_SECONDS: how long it samples for a server that is away for a sixth of the time; 60 by default.
# Downloads stay in ${XDG_CACHE_HOME:-~/.cache}/keyhole/; empty it for newer packages.

cd "$(dirname "$0")/../.." || exit 1
here=tests/systemd
build=$(realpath "${BUILD:-build}")
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/systemd
KERNEL=6.12
UNITS_OFF='systemd.mask=serial-getty@ttyS0.service systemd.mask=getty.target'	# wait for devices
PACKAGES=systemd,systemd-sysv,dbus,python3,python3-h2
AWAY_SECONDS=${AWAY_SECONDS:-60}
BOOT_SECONDS=${BOOT_SECONDS:-$((900 + AWAY_SECONDS))}
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C

skip_all() {
	echo "1..0 # SKIP $*" | tee /dev/stderr
	exit 77
}

[ "$(id -u)" = 0 ] || skip_all 'needs root: sudo make check-systemd'
[ "$(uname -m)" = x86_64 ] || skip_all 'the kernels are of x86-64'
[ -z "$SANITIZE" ] || skip_all 'the sanitizers are for the suites that need no emulation'
for program in qemu-system-x86_64 mmdebstrap cpio python3; do
	command -v $program >/dev/null || skip_all "$program is not installed"
done
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(tests/kernels/mirror.sh)
[ -n "$release" ] && [ -n "$mirror" ] || skip_all 'apt knows no Debian mirror'
read -r _ kernel reason < <(tests/kernels/fetch.sh $KERNEL 2>/dev/null)
[ -s "$kernel" ] || skip_all "no kernel: $reason"

archive=$cache/$release-$(echo $PACKAGES | cksum | cut -d' ' -f1).cpio
top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-systemd.XXXXXX") || exit 1
emulator=
trap '[ -z "$emulator" ] || kill "$emulator"; rm -rf "$top"' EXIT
trap 'exit 1' INT TERM

# ---- the guest --------------------------------------------------------------------------------

# The release as an archive for the kernel; what the guest has no use for is left out.
make_release() {
	[ -s "$archive" ] && return
	mkdir -p "$cache"
	mmdebstrap --quiet --mode=root --variant=minbase --include=$PACKAGES \
		--aptopt='Apt::Install-Recommends "false"' --aptopt='Acquire::Retries "0"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--dpkgopt='path-exclude=/usr/share/zoneinfo/*' \
		"$release" "$top/release" "$mirror" >"$top/release.log" 2>&1 || return
	rm -rf "$top"/release/var/{cache,lib/apt}/*
	ln -sfn /sbin/init "$top/release/init"
	(cd "$top/release" && find . | cpio -o -H newc --quiet) >"$top/cpio" &&
		mv "$top/cpio" "$archive"
}

# The additions are keyhole as it is installed, its libraries and the test.
make_additions() {
	local root=$top/root library
	mkdir -p "$root"/{out,test/e2e,test/otlp,etc/systemd/system/multi-user.target.wants}
	chmod 755 "$root"
	# by the name that the caller gave it: another one is other flags, and all would be compiled again
	make --no-print-directory -s install install-systemd BUILD="${BUILD:-build}" DESTDIR="$root" \
		>"$top/install.log" 2>&1 || { cat "$top/install.log" >&2; return 1; }
	cp "$build/workloads/mixed" $here/guest.py tests/privsep/starts.py "$root/test"
	cp tests/e2e/collector.py "$root/test/e2e"
	cp tests/otlp/{numbers_of_otlp,payload,server}.py "$root/test/otlp"
	for library in $(ldd "$build/keyhole" "$root/test/mixed" |
		grep -oE '/[^ ]+\.so[^ ]*' | grep -vE '/(ld-linux|lib(c|m|pthread)\.so)' | sort -u); do
		install -D "$library" "$root/usr${library#/usr}"
	done
	cat >"$root/etc/systemd/system/test.service" <<-END
		[Service]
		Type=simple
		WorkingDirectory=/out
		Environment=PYTHONDONTWRITEBYTECODE=1
		ExecStart=/test/all
		ExecStopPost=/bin/systemctl poweroff --force --force
	END
	echo "export AWAY_SECONDS=$AWAY_SECONDS" >"$root/test/settings"
	cat >"$root/test/all" <<-'END'
		#!/bin/sh
		. /test/settings
		python3 /test/guest.py 2>err | tee tap >/dev/console
		uname -r >release
		stty -F /dev/ttyS1 raw
		tar -c . | gzip -1 | cat >/dev/ttyS1
	END
	chmod 755 "$root/test/all"
	ln -s ../test.service "$root/etc/systemd/system/multi-user.target.wants"
	(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet) >"$top/additions.cpio"
}

# One CPU: with two, emulated, the kernel sometimes dies of a race that no machine has.
boot() {
	cat "$archive" "$top/additions.cpio" >"$top/initrd"
	timeout -k 5 $BOOT_SECONDS qemu-system-x86_64 -M q35 -cpu max -m 2048 \
		-accel tcg -smp 1 -display none -nodefaults -no-reboot \
		-kernel "$kernel" -initrd "$top/initrd" -serial "file:$top/console" \
		-serial "file:$top/sent" -append \
		"console=ttyS0 quiet panic=-1 mitigations=off systemd.show_status=false $UNITS_OFF" \
		</dev/null >"$top/emulator" 2>&1 &
	emulator=$!
	wait $emulator
	emulator=
	mkdir -p "$top/guest"
	tar -xzf "$top/sent" -C "$top/guest" 2>/dev/null && [ -s "$top/guest/tap" ]
}

# ---- results ----------------------------------------------------------------------------------

# Functions of the workload by their names, from its own process, and the two rates that were asked for.
check_profiles() {
	python3 - "$top"/guest/windows/*.pb.gz <<-'END'
		import sys
		sys.path.insert(0, "tests/e2e")
		import pprof
		profiles = [pprof.Profile(path) for path in sys.argv[1:]]
		names = {name for profile in profiles for name in profile.strings if name.startswith("work::")}
		wanted = ["work::spin", "work::less", "work::recurse", "work::compare"]
		missing = [name for name in wanted if not any(n.startswith(name) for n in names)]
		periods = sorted({profile.period for profile in profiles})
		print(f"# |{len(profiles)} windows, {len(names)} functions of the workload, periods {periods}")
		if periods != [1000000000 // 97, 1000000000 // 49]:
		    missing.append("a rate")
		sys.exit(f"missing: {missing}" if missing else 0)
	END
}

check_kernel_names() {
	for window in "$top"/guest/windows/*.pb.gz; do
		gzip -dc "$window"
	done | grep -qa 'do_syscall_64\|asm_sysvec'
}

check_table() {
	sed -n '/^<!-- measured by tests\/systemd\/run.sh -->$/,/^<!-- end -->$/p' policy/README.md |
		grep '^|' | diff - "$top/guest/table"
}

number=0 failed=0
result() {	# NAME COMMAND...
	local name=$1
	shift
	number=$((number + 1))
	if "$@" >"$top/said" 2>&1; then
		echo "ok $number - $name"
		grep '^# |' "$top/said"
	else
		echo "not ok $number - $name"
		sed 's/^/#   /' "$top/said"
		failed=1
	fi
}

make_release || {
	cat "$top/release.log" >&2
	skip_all "$release cannot be had from the mirror"
}
make_additions && boot || {
	echo "not ok 1 - boot"
	tail -n 60 "$top/console" "$top/emulator" | tr -d '\r' | sed 's/^/# /'
	exit 1
}
cat "$top/guest/tap"
number=$(grep -cE '^(not )?ok' "$top/guest/tap")
! grep -q '^not ok' "$top/guest/tap" || failed=1
[ ! -s "$top/guest/err" ] || { echo "not ok $((++number)) - standard error of the test"; failed=1; }
sed 's/^/# /' "$top/guest/err"
result 'windows have the functions of the workload' check_profiles
result 'kernel frames have names' check_kernel_names
result 'policy/README.md has what was measured' check_table
echo "# |Linux $(cat "$top/guest/release"), Debian $release, $SECONDS s"
echo "1..$number"
exit $failed
