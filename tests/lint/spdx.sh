#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Every file names its licence: GPL-2.0-only below bpf/, Apache-2.0 elsewhere.

failed=0
files=$(find . -path ./.git -prune -o -path "./${BUILD:-build}" -prune -o -type f -print |
	grep -vE '^\./(LICENSE|LICENSES/.*|\.gitignore|.*\.md|.*/PROTOCOL|\.clang-format|.*/seeds/.*|tests/(fuzz/corpus|bpf/images)\.tar\.xz)$')
for file in $files; do
	case $file in
	./bpf/*) want=GPL-2.0-only ;;
	*) want=Apache-2.0 ;;
	esac
	head -n 3 "$file" | grep -q "SPDX-License-Identifier: $want" && continue
	echo "$file: no SPDX line with $want at its top"
	failed=1
done
exit $failed
