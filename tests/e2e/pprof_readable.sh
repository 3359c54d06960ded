#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Others read our pprof files: protoc decodes them, and go tool pprof shows the right figures.
# go tool pprof neither complains nor looks for binaries. Prints TAP; needs no root.

build=${BUILD:-build}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
number=0

result() { # STATUS NAME [FILE]
	number=$((number + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $number - $2"
	else
		echo "not ok $number - $2"
		[ -z "$3" ] || sed 's/^/# /' "$3"
	fi
}

skip() { # NAME REASON
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

same() { # NAME ACTUAL, expected on standard input
	diff -u - "$2" >"$tmp/diff" 2>&1
	result $? "$1" "$tmp/diff"
}

has() { # NAME FILE PATTERN...
	name=$1
	file=$2
	shift 2
	for pattern; do
		if ! grep -Eq -e "$pattern" "$file"; then
			echo "# missing: $pattern"
			result 1 "$name" "$file"
			return
		fi
	done
	result 0 "$name"
}

if ! ${CC:-gcc} -std=gnu11 -D_GNU_SOURCE ${SANITIZE:+-fsanitize=$SANITIZE} -iquote . -iquote "$build" \
	-o "$tmp/make_profile" tests/e2e/make_profile.c tests/unit/build_profile.c \
	-Wl,--start-group "$build/lib/profile-format.a" "$build/lib/profile.a" \
	"$build/lib/base.a" "$build/lib/proto.a" -Wl,--end-group -lprotobuf-c -lz \
	2>"$tmp/cc" || ! "$tmp/make_profile" pprof >"$tmp/profile.pb.gz" 2>>"$tmp/cc"; then
	result 1 "the profile can be made" "$tmp/cc"
	exit 1
fi

gzip -dc "$tmp/profile.pb.gz" >"$tmp/profile.pb"
result $? "it is gzip"

if command -v protoc >"$tmp/null"; then
	protoc --decode=perftools.profiles.Profile proto/profile.proto \
		<"$tmp/profile.pb" >"$tmp/decoded" 2>"$tmp/err"
	result $? "protoc decodes it" "$tmp/err"
	same "without a complaint" "$tmp/err" </dev/null
	has "protoc shows its fields" "$tmp/decoded" '^period: 10000000$' \
		'^time_nanos: 1700000000000000000$' '^duration_nanos: 2000000000$' \
		'^  memory_limit: 20480$' '^string_table: "/usr/bin/app"$' '^  has_functions: true$'
	grep -Eq '^ *[0-9]+:' "$tmp/decoded"
	result $((1 - $?)) "no field is unknown" "$tmp/decoded"
else
	skip "protoc decodes it" "there is no protoc"
fi

# A Go that builds its pprof wants a cache.
export GOCACHE="${GOCACHE:-$(realpath "${BUILD:-build}")/go-cache}" HOME="${HOME:-$tmp}" GOTOOLCHAIN=local CGO_ENABLED=0
if ! command -v go >"$tmp/null"; then
	skip "go tool pprof reads it" "there is no go"
elif ! tests/pprof -raw "$tmp/profile.pb.gz" >"$tmp/raw" 2>"$tmp/err"; then
	result 1 "go tool pprof reads it" "$tmp/err"
else
	result 0 "go tool pprof reads it"
	same "without a complaint" "$tmp/err" </dev/null
	has "-raw shows types, samples, labels, locations and mappings" "$tmp/raw" \
		'^PeriodType: cpu nanoseconds$' '^Period: 10000000$' '^Duration: 2s$' \
		'^samples/count cpu/nanoseconds\[dflt\]$' '^ +3 +30000000: [0-9]+ [0-9]+ *$' \
		'^ +2 +20000000: [0-9]+ [0-9]+ [0-9]+ *$' 'comm:\[app\]' 'thread:\[work;er\?\]' \
		'reason:\[cut_no_rule\]' 'pid:\[200\]' 'cgroup:\[77\]' \
		'^ +[0-9]+: 0x2234 M=[0-9]+ libplain.so.1\+0x2234 ' '^ +[0-9]+: 0x1 \[cut: no rule\]' \
		'^[0-9]+: 0x1000/0x5000/0x1000 /usr/bin/app 0123456789abcdef \[FN\]$' \
		'keyhole [0-9.]+'

	tests/pprof -top "$tmp/profile.pb.gz" 2>"$tmp/err" | sed 's/ *$//' >"$tmp/top"
	same "-top is quiet" "$tmp/err" </dev/null
	sed -n '/flat%/,$p' "$tmp/top" >"$tmp/top.table"
	same "-top counts CPU time" "$tmp/top.table" <<-'TABLE'
	      flat  flat%   sum%        cum   cum%
	      60ms 60.00% 60.00%       60ms 60.00%  read_it
	      30ms 30.00% 90.00%       50ms 50.00%  ns::work
	      10ms 10.00%   100%       10ms 10.00%  libplain.so.1+0x2234
	         0     0%   100%       10ms 10.00%  [cut: no rule]
	         0     0%   100%       50ms 50.00%  main
	TABLE
	tests/pprof -sample_index=samples -top "$tmp/profile.pb.gz" 2>"$tmp/err" >"$tmp/top"
	has "-sample_index=samples counts samples" "$tmp/top" '^Type: samples$' \
		'^ +6 60.00% 60.00% +6 60.00% +read_it$'

	tests/pprof -traces "$tmp/profile.pb.gz" 2>"$tmp/err" >"$tmp/traces"
	has "-traces shows stacks" "$tmp/traces" '20ms +read_it$' '^ +ns::work$' '^ +main$' \
		'^ +\[cut: no rule\]$'
	tests/pprof -tagroot=comm -traces "$tmp/profile.pb.gz" 2>"$tmp/err" >"$tmp/traces"
	has "-tagroot=comm groups by program" "$tmp/traces" '^ +kthreadd$' '^ +app$'
	tests/pprof -tagfocus=comm=kthreadd -top "$tmp/profile.pb.gz" 2>"$tmp/err" >"$tmp/top"
	has "-tagfocus finds a program" "$tmp/top" '^Active filters:$' 'accounting for 40ms'
	tests/pprof -proto -output="$tmp/again" "$tmp/profile.pb.gz" 2>"$tmp/err" >"$tmp/null" &&
		tests/pprof -raw "$tmp/again" 2>>"$tmp/err" | diff - "$tmp/raw" >>"$tmp/err"
	result $? "it is the same after a round trip" "$tmp/err"
fi
echo "1..$number"
