#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# tests/suite.sh TARGET COMMAND...: runs COMMAND (make) for the target of a suite. A suite that fails
# without a result that says so, as when it cannot be built, gets one.

build=${BUILD:-build}
target=$1
shift
name=${target#check-}
case $name in
bpf-host) name=bpf ;;
fuzz-replay) name=fuzz ;;
esac
echo "== $name"
"$@" "$target" && exit
! grep -rqs '^not ok' "$build/results/$name" || exit 1
mkdir -p "$build/results/$name"
echo "not ok - $name did not run" >"$build/results/$name/not-run.tap"
exit 1
