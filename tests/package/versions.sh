#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/package/versions.sh: each program in turn replaced by that of another version: nothing is
# sampled, and it is said why. Prints TAP. Root, but for the programs that need none.

cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
top=$(mktemp -d "${TMPDIR:-/tmp}/keyhole-versions.XXXXXX") || exit 1
chmod 755 "$top"
trap 'rm -rf "$top"' EXIT
trap 'exit 1' INT TERM
unset SUDO_UID SUDO_GID
export LC_ALL=C
count=0
failed=0

report() {	# STATUS NAME
	count=$((count + 1))
	[ "$1" = 0 ] && { echo "ok $count - $2"; return; }
	echo "not ok $count - $2"
	sed 's/^/# /' "$top/out"
	failed=1
}

keyhole() {	# VERB: it is refused, or it is not
	case $1 in
	check-config) "$top/bin/keyhole" "$1" "$top/policy.conf" ;;
	agent) "$top/bin/keyhole" agent -d 0.5 --endpoint http://127.0.0.1:9 ;;
	record) "$top/bin/keyhole" record -F 99 -o "$top/p.folded" --audit "$top/audit" \
		--policy "$top/policy.conf" -- \
		sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' ;;
	*) "$top/bin/keyhole" "$1" --help ;;
	esac >"$top/out" 2>&1
}

refuses() {	# VERB PROGRAM
	rm -f "$top/p.folded" "$top/audit"
	keyhole "$1"
	[[ $? = [12] ]] || return
	[ ! -e "$top/p.folded" ] && grep -q 'install all programs together' "$top/out" &&
		! grep -q samples "$top/out"
}

accepts() {
	keyhole "$1"
	case $1 in
	record) [ -s "$top/p.folded" ] ;;
	*) ! grep -q 'install all programs' "$top/out" ;;
	esac
}

verb_of() {	# PROGRAM: that it is
	sed -nE "s/^V\\(([a-z]+), \"$1\".*/\\1/p" ipc/verbs.def
}

programs=$(cd "$build" && find . -maxdepth 1 -type f -name 'keyhole*' -perm -1 -printf '%f\n' | sort)
verbs=$(sed -nE 's/^V\(([a-z]+),.*/\1/p' ipc/verbs.def)
[ "$(id -u)" != 0 ] || verbs="record agent check-config $verbs"
mkdir "$top/bin"
sed "s/^#max-frequency/max-frequency/" contrib/policy.conf >"$top/policy.conf" # of root's
chmod 644 "$top/policy.conf"
for program in $programs; do
	cp "$build/$program" "$top/bin"
done

for verb in $verbs; do
	accepts "$verb"
	report $? "$verb: all of one version"
done
for program in $programs; do
	[ "$program" != keyhole-debug-reader ] || continue # recordings go on without it, see below
	cp "$build/other/$program" "$top/bin"
	case $program in
	keyhole) changed=$verbs ;;
	keyhole-rules) changed='record check-config' ;;
	keyhole-connector) changed=agent ;;
	*) changed=$(verb_of "$program") ;;
	esac
	[ -n "$changed" ] || changed=record
	for verb in $changed; do
		case " $(echo $verbs) " in
		*" $verb "*) ;;
		*)
			count=$((count + 1))
			echo "ok $count - $verb: $program # SKIP needs root: sudo make check-package"
			continue
			;;
		esac
		refuses "$verb"
		report $? "$verb: $program of another version"
	done
	cp "$build/$program" "$top/bin"
done
case " $(echo $verbs) " in
*' record '*)
	cp "$build/other/keyhole-debug-reader" "$top/bin"
	rm -f "$top/p.folded" "$top/audit"
	accepts record
	report $? 'record: goes on without lines, where keyhole-debug-reader is of another version'
	;;
esac
echo "1..$count"
exit $failed
