#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/canary/run.sh: what of a target's secrets and of the kernel's addresses comes out, and to a
# worker that was taken over. One TAP stream.

cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND

if [ "$(id -u)" != 0 ]; then
	echo '1..0 # SKIP needs root: sudo make check-canary' | tee /dev/stderr
	exit 77
fi
if [ -n "$SANITIZE" ]; then
	echo '1..0 # SKIP a sanitizer allows no confinement'
	exit 77
fi
failed=0
for part in canary hostile lists; do
	tests/canary/$part.py "$build" || failed=1
done
tests/canary/lists.py "$build" thrifty || failed=1
exit $failed
