#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Every format of ipc/formats.def beside every other (totals.py), what a receiver takes
# of OTLP (otlp.py), and OTLP as protoc reads it.
# Prints TAP; needs no root.

here=$(dirname "$0")
build=${BUILD:-build}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

if ! ${CC:-gcc} -std=gnu11 -D_GNU_SOURCE ${SANITIZE:+-fsanitize=$SANITIZE} -iquote . -iquote "$build" \
	-o "$tmp/render" "$here/render.c" tests/unit/build_profile.c tests/unit/build_random.c \
	-Wl,--start-group "$build/lib/profile-format.a" "$build/lib/profile.a" \
	"$build/lib/base.a" "$build/lib/proto.a" -Wl,--end-group -lprotobuf-c -lz \
	2>"$tmp/cc"; then
	echo 'not ok 1 - profiles can be made'
	sed 's/^/# /' "$tmp/cc"
	echo 1..1
	exit 1
fi

export PYTHONDONTWRITEBYTECODE=1
for part in totals otlp; do
	"$here/$part.py" "$tmp/render" "$tmp" >>"$tmp/tap" 2>"$tmp/err" ||
		echo "not ok 0 - $part.py ends as it should" >>"$tmp/tap"
	sed 's/^/# /' "$tmp/err"
done
grep -v '^1\.\.' "$tmp/tap" | awk '
	/^(not )?ok / { sub(/ok [0-9]+/, "ok " ++number) }
	{ print }'
number=$(grep -cE '^(not )?ok ' "$tmp/tap")

for profile in small hostile inlined empty counted timed; do
	number=$((number + 1))
	name="protoc decodes otlp of $profile, and knows all fields"
	if ! command -v protoc >"$tmp/null"; then
		echo "ok $number - $name # SKIP there is no protoc"
	elif "$tmp/render" otlp "$profile" 2>"$tmp/null" |
		protoc --decode=otlp.ProfilesData proto/otlp.proto >"$tmp/decoded" 2>"$tmp/err" &&
		[ -s "$tmp/decoded" ] && [ ! -s "$tmp/err" ] && ! grep -Eq '^ *[0-9]+:' "$tmp/decoded"; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		sed 's/^/# /' "$tmp/err"
	fi
done
echo "1..$number"
