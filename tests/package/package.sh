#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/package/package.sh: tests the packages of `make package`: their contents and lintian's opinion. A
# fresh Debian of this machine's release (by mmdebstrap) installs, uses and removes them. Prints TAP.
# Downloads stay in ${XDG_CACHE_HOME:-~/.cache}/keyhole/. PACKAGE_DEBIAN=kept
# downloads nothing.

cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/keyhole/package
deb=$(ls "$build"/package/*.deb 2>/dev/null)
rpm=$(ls "$build"/package/*.rpm 2>/dev/null)
top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-package.XXXXXX") || exit 1
trap 'rm -rf --one-file-system "$top"' EXIT
trap 'exit 1' INT TERM
export LC_ALL=C
count=0
failed=0

fail() {
	echo "# $*"
	return 1
}

skip() {
	echo "$*" >"$top/skip"
	return 77
}

need() {
	for program; do
		command -v "$program" >/dev/null || { skip "$program is not installed"; return; }
	done
}

run() {	# NAME: of a function below
	local r
	count=$((count + 1))
	"$1" >"$top/out" 2>&1
	r=$?
	case $r in
	0) echo "ok $count - $1" ;;
	77) echo "ok $count - $1 # SKIP $(cat "$top/skip")" ;;
	*)
		echo "not ok $count - $1"
		sed 's/^/# /' "$top/out" | tail -n 30
		failed=1
		;;
	esac
}

# ---- what is in them ----------------------------------------------------------------------------

expected() {	# files of both, without documents and completions
	local program
	for program in $(cd "$build/package" && find . -maxdepth 1 -type f -perm -1 -printf '%f\n'); do
		case $program in
		keyhole) echo /usr/bin/keyhole ;;
		*) echo "/usr/libexec/keyhole/$program" ;;
		esac
	done
	ls contrib/man | sed -E 's|.*([0-9])$|/usr/share/man/man\1/&.gz|'
	cat <<-'END'
		/usr/lib/systemd/system/keyhole-connector.socket
		/usr/lib/systemd/system/keyhole-connector@.service
		/usr/lib/systemd/system/keyhole.service
		/usr/lib/sysusers.d/keyhole.conf
		/usr/lib/tmpfiles.d/keyhole.conf
		/usr/libexec/keyhole/keyhole-programs.sha256
		/usr/share/bash-completion/completions/keyhole
		/usr/share/doc/keyhole/README.md
		/usr/share/doc/keyhole/examples/agent.conf
		/usr/share/doc/keyhole/examples/keyhole.rules.yml
		/usr/share/doc/keyhole/examples/policy.conf
		/usr/share/fish/vendor_completions.d/keyhole.fish
	END
}

contents_of_the_deb() {
	[ -f "$deb" ] || fail 'not one .deb' || return
	dpkg-deb -c "$deb" | awk '$1 !~ /^d/ { sub(/^\./, "", $6); print $6 }' | sort >"$top/have"
	{
		expected
		cat <<-'END'
			/usr/share/doc/keyhole/changelog.Debian.gz
			/usr/share/doc/keyhole/changelog.gz
			/usr/share/doc/keyhole/copyright
			/usr/share/lintian/overrides/keyhole
			/usr/share/zsh/vendor-completions/_keyhole
		END
	} | sort | diff - "$top/have" || return
	# root's, nobody else may write, nothing set-id
	dpkg-deb -c "$deb" | grep -vE '^(drwxr-xr-x|-rwxr-xr-x|-rw-r--r--) root/root ' && return 1
	return 0
}

contents_of_the_rpm() {
	need rpm rpmbuild || return
	[ -f "$rpm" ] || fail 'not one .rpm' || return
	rpm -qlp "$rpm" | grep -vE '^/usr/(libexec/keyhole|share/doc/keyhole(/examples)?|share/licenses/keyhole)$' |
		sort >"$top/have"
	{
		expected
		cat <<-'END'
			/usr/share/licenses/keyhole/GPL-2.0-only
			/usr/share/licenses/keyhole/LICENSE
			/usr/share/zsh/site-functions/_keyhole
		END
	} | sort | diff - "$top/have"
}

programs_are_the_same_in_both() {
	need rpm2cpio cpio || return
	[ -f "$rpm" ] || { skip 'no .rpm'; return; }
	mkdir "$top/deb" "$top/rpm"
	dpkg-deb -x "$deb" "$top/deb"
	(cd "$top/rpm" && rpm2cpio "$rpm" | cpio -id --quiet)
	diff -r "$top/deb/usr/libexec" "$top/rpm/usr/libexec" && cmp "$top"/{deb,rpm}/usr/bin/keyhole &&
		(cd "$top/deb/usr/libexec/keyhole" && ln ../../bin/keyhole . &&
			sha256sum --quiet -c keyhole-programs.sha256)
}

# The package depends on each library that the dynamic linker will look for.
depends_on_what_it_loads() {
	local program depends name path package
	depends=", $(dpkg-deb -f "$deb" Depends | sed 's/ *([^)]*)//g'),"
	for program in "$build"/package/stage/usr/bin/keyhole "$build"/package/stage/usr/libexec/keyhole/keyhole-*; do
		ldd "$program" 2>/dev/null | awk '$2 == "=>" { print $1, $3 }' | while read -r name path; do
			package=$(dpkg -S "$(realpath "$path")" "$(realpath "$path" | sed 's|^/usr||')" \
				"/usr$(realpath "$path")" 2>/dev/null | head -n 1 | cut -d: -f1)
			echo "$name ${package:-?}"
		done
	done | sort -u >"$top/libraries"
	cat "$top/libraries"
	# zstd is libelf's affair, and so on: what ours name themselves
	for program in keyhole keyhole-check; do
		objdump -p "$(find "$build/package/stage" -name $program -type f)" | awk '$1 == "NEEDED" { print $2 }'
	done | sort -u | while read -r name; do
		package=$(sed -n "s/^$name //p" "$top/libraries")
		[[ $depends == *", $package,"* ]] || echo "$name of $package: not in $depends"
	done | grep . && return 1
	return 0
}

lintian_is_silent() {
	need lintian || return
	lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$deb" >"$top/lintian"
	local r=$?
	cat "$top/lintian"
	return $r
}

# These complaints do not count: the signature and the address of the distributor are missing; programs
# are static, as intended. Names of licences and the compression are unknown to its defaults.
rpmlint_is_silent() {
	need rpmlint || return
	[ -f "$rpm" ] || { skip 'no .rpm'; return; }
	rpmlint "$rpm" >"$top/rpmlint" 2>/dev/null
	local meant='statically-linked-binary|no-signature|no-url-tag|only-non-binary-in-usr-lib'
	meant="$meant|no-manual-page-for-binary keyhole\$|manpage-not-compressed bz2|invalid-license"
	! grep -E '^keyhole.*: [EW]: ' "$top/rpmlint" | grep -vE "$meant"
}

man_pages_are_clean() {
	need mandoc || return
	local page
	for page in "$build"/documents/man/*; do
		mandoc -T lint "$page" | grep -vE 'STYLE: referenced manual not found|outdated mandoc.db'
		! command -v man >/dev/null || MANWIDTH=80 man --warnings -l "$page" 2>&1 >/dev/null
	done | grep . && return 1
	return 0
}

completions_work_in_zsh() {
	need zsh || return
	zsh -n "$build/documents/completions/_keyhole" && zsh -fc '
		fpath=($1 $fpath)
		autoload -U compinit && compinit -D -u
		[[ $_comps[keyhole] = _keyhole ]]' zsh "$build/documents/completions"
}

completions_work_in_bash() {
	local have
	have=$(bash -c '. "$0"
		offer() {
			COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
			_keyhole && echo "${COMPREPLY[@]}"
		}
		offer keyhole rep; offer keyhole record --fo; offer keyhole report --by pro
		offer keyhole symbolize -d /usr/shar; offer keyhole record -p $$
		offer keyhole top --com; offer keyhole top -e cpu-c
		offer keyhole check-config README; offer keyhole record -- --fo' "$build/documents/completions/keyhole.bash" | xargs)
	[[ $have =~ ^report' '--format' '--force' 'process' '/usr/share' '[0-9]+' '--comm' 'cpu-clock' 'README.md$ ]] ||
		fail "$have"
}

completions_work_in_fish() {
	need fish || return
	local have
	have=$(HOME=$top fish -c 'source '"$build"'/documents/completions/keyhole.fish
		complete -C "keyhole record --fo"; complete -C "keyhole che"
		complete -C "keyhole report -f otlp-"; complete -C "keyhole symbolize --d"
		complete -C "keyhole top --com"; complete -C "keyhole top --ev"' 2>/dev/null |
		cut -f1 | xargs)
	[ "$have" = '--force --format check check-config otlp-json --debug-dir --comm --event' ] || fail "$have"
}

# ---- installed ----------------------------------------------------------------------------------

# A Debian with what the package depends on.
make_release() {
	need mmdebstrap || return
	[ "$(id -u)" = 0 ] || { skip 'needs root: sudo make check-package'; return; }
	local release mirror archive depends
	release=$(. /etc/os-release && echo "$VERSION_CODENAME")
	mirror=$(tests/kernels/mirror.sh)
	depends=$(dpkg-deb -f "$deb" Depends | sed 's/ *([^)]*)//g; s/ *|[^,]*//g; s/, */,/g')
	archive=$cache/$release-$(echo "$depends" | cksum | cut -d' ' -f1).tar
	[ -n "$release" ] && [ -n "$mirror" ] || { skip 'apt knows no Debian mirror'; return; }
	[ -s "$archive" ] || [ "$PACKAGE_DEBIAN" != kept ] ||
		{ skip 'none is kept here: sudo make check-package fetches one'; return; }
	if [ ! -s "$archive" ]; then
		mkdir -p "$cache"
		mmdebstrap --quiet --mode=root --variant=minbase --include="$depends" \
			--aptopt='Apt::Install-Recommends "false"' --aptopt='Acquire::Retries "0"' \
			"$release" "$top/new.tar" "$mirror" >"$top/release.log" 2>&1 ||
			{ skip "no Debian from $mirror: $(tail -n 1 "$top/release.log")"; return; }
		mv "$top/new.tar" "$archive"
	fi
	mkdir "$top/root"
	tar -C "$top/root" -xf "$archive" --anchored --exclude='./dev/*'
}

# In mounts of their own, which end with the command. The root is one of them: of a file on a mount
# that a process cannot see keyhole opens nothing.
inside() {
	unshare --mount --propagation private sh -c 'mount --bind "$0" "$0" && cd "$0" && mount --rbind /proc proc &&
		mount --rbind /sys sys && mount --rbind /dev dev &&
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive chroot . "$@"' \
		"$top/root" "$@"
}

# Every file with its mode, owner and content. Not: what dpkg and its tools keep for themselves.
snapshot() {
	(cd "$top/root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp \
		-o -path './var/lib/dpkg' -o -path ./var/log -o -path './etc/*-' -o -path ./var/cache \) -prune \
		-o -type f -exec sha256sum {} + -o -printf '%p %l\n' &&
		find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path './etc/*-' \
		-o -path ./var/lib/dpkg -o -path ./var/log -o -path ./var/cache \) -prune -o -printf '%p %m %U %G\n') |
		sort
}

sysctls() {
	sysctl -a 2>/dev/null | grep -E '^(kernel\.(perf|kptr|unprivileged|yama|dmesg|core)|fs\.suid|user\.)'
}

install() {
	[ -d "$top/root" ] || { skip 'no Debian to install it in'; return; }
	sysctls >"$top/sysctls"
	snapshot >"$top/before"
	cp "$deb" "$top/root/tmp/keyhole.deb"
	inside dpkg -i /tmp/keyhole.deb
}

installs() {
	install || return
	inside keyhole --version && inside getent passwd keyhole keyhole-worker keyhole-exporter \
		keyhole-broker || return
	inside dpkg --verify keyhole | grep . && return 1
	return 0
}

changes_no_setting() {
	[ -d "$top/root" ] || { skip 'not installed'; return; }
	sysctls | diff "$top/sysctls" - || return
	find "$top"/root/etc -newer "$top/sysctls" -type f | grep -vE '/etc/(passwd|group|g?shadow)-?$|\.pwd\.lock' &&
		fail 'a file of /etc is new' && return 1
	find "$top/root/etc/systemd" -name 'keyhole*' | grep . && return 1
	! find "$top/root" -xdev -path '*sysctl.d*' -name '*keyhole*' | grep .
}

records() {
	[ -d "$top/root" ] || { skip 'not installed'; return; }
	inside keyhole record -F 499 -o /tmp/p.folded -- sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done' ||
		return
	[ "$(awk '{ n += $NF } END { print n + 0 }' "$top/root/tmp/p.folded")" -ge 20 ] || fail 'too few samples' ||
		return
	[ "$(grep -vc '\[cut: ' "$top/root/tmp/p.folded")" -ge 3 ] || fail 'no stack is complete' || return
	inside keyhole record -F 499 -o /tmp/p.pb.gz -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' &&
		inside keyhole report --by process /tmp/p.pb.gz | tee "$top/report" && grep -qE '%  sh( |$)' "$top/report"
}

check_finds_the_files() {
	[ -d "$top/root" ] || { skip 'not installed'; return; }
	inside keyhole check --json >"$top/check.json"
	python3 - "$top/check.json" <<-'END'
		import json, sys
		said = json.load(open(sys.argv[1]))
		wrong = [d for d in said["deviations"] if d["object"] in ("executable", "bpf_object", "policy")]
		print(wrong, said["executables"])
		paths = [program["path"] for program in said["executables"].values()]
		sys.exit(bool(wrong) or not all(p.startswith("/usr/") for p in paths))
	END
}

# To a later version: what an administrator wrote stays, and on removal too.
upgrades_and_removes() {
	[ -d "$top/root" ] || { skip 'not installed'; return; }
	dpkg-deb -R "$deb" "$top/next" &&
		sed -i 's/^Version: .*/&.1/' "$top/next/DEBIAN/control" &&
		dpkg-deb --root-owner-group -Zgzip -b "$top/next" "$top/root/tmp/next.deb" || return
	mkdir -p "$top/root/etc/keyhole" "$top/root/var/lib/keyhole"
	echo 'max-frequency 99' >"$top/root/etc/keyhole/policy.conf"
	echo profile >"$top/root/var/lib/keyhole/profile.pb.gz"
	inside dpkg -i /tmp/next.deb && inside dpkg -l keyhole | grep '^ii' && inside keyhole --version &&
		inside keyhole check-config | grep -x 'max-frequency 99' || return
	inside dpkg --remove keyhole || return
	(cd "$top/root" && find . -xdev -path ./proc -prune -o -name '*keyhole*' -print) |
		grep -vE '^\./(tmp|var/lib/dpkg|var/log)/|^\./(etc|var/lib)/keyhole$' && return 1
	[ "$(cat "$top/root/etc/keyhole/policy.conf" "$top/root/var/lib/keyhole/profile.pb.gz" | wc -l)" = 2 ] ||
		fail 'what is not ours was removed'
}

purge_leaves_nothing() {
	[ -d "$top/root" ] || { skip 'not installed'; return; }
	mkdir -p "$top/root/etc/systemd/system/multi-user.target.wants"
	ln -s /lib/systemd/system/keyhole.service "$top/root/etc/systemd/system/multi-user.target.wants/"
	inside dpkg --purge keyhole || return
	rm -f "$top"/root/tmp/*
	snapshot | diff "$top/before" - && inside dpkg -l keyhole 2>/dev/null | grep '^[a-z][a-z] ' && return 1
	snapshot | diff -q "$top/before" - >/dev/null
}

# Without what rpm knows of dependencies and without its scripts, which are systemd's.
rpm_installs_and_removes() {
	need rpm rpmbuild || return
	[ -f "$rpm" ] || { skip 'no .rpm'; return; }
	[ "$(id -u)" = 0 ] || { skip 'needs root: sudo make check-package'; return; }
	local system=$top/rpm-system
	mkdir "$system"
	rpm --root "$system" --nodeps --noscripts -i "$rpm" || fail 'not installed' || return
	[ "$(find "$system" -name 'keyhole*' ! -path '*/rpm/*' | wc -l)" -ge 10 ] || fail 'no files' || return
	rpm --root "$system" --nodeps --noscripts -e keyhole || fail 'not removed' || return
	! find "$system" -name '*keyhole*' | grep .
}

for test in contents_of_the_deb contents_of_the_rpm programs_are_the_same_in_both \
	rpm_installs_and_removes \
	depends_on_what_it_loads lintian_is_silent \
	rpmlint_is_silent man_pages_are_clean completions_work_in_bash \
	completions_work_in_zsh completions_work_in_fish \
	make_release installs changes_no_setting records check_finds_the_files \
	upgrades_and_removes purge_leaves_nothing; do
	run $test
done
echo "1..$count"
exit $failed
