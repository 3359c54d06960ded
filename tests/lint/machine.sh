#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Nothing in the tree depends on or names the machine it was written on.

files=$(find . -path ./.git -prune -o -path "./${BUILD:-build}" -prune -o -type f -print |
	grep -vE '^\./(LICENSE|LICENSES/.*|tests/lint/machine\.sh)$')
pattern='/work/|/home/[a-z]|/farm/|deb\.debian\.org|pypi\.org|registry\.npmjs|proxy\.golang|crates\.io'
if grep -nIE "$pattern" $files; then
	exit 1
fi
exit 0
