#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Scripts parse; of the cases, which are read into one shell, no function takes another one's name. Root's
# script opens no file by a name that others own.

failed=0
for script in $(grep -rlE '^#!/bin/(ba)?sh' tests contrib .ci); do
	"$(sed -n '1s/^#!//p' "$script")" -n "$script" || failed=1
done
find tests contrib -name '*.py' -print0 | xargs -0 python3 -c '
import ast, sys
for path in sys.argv[1:]:
    with open(path) as script:
        ast.parse(script.read(), path)
' || failed=1
twice=$(cat tests/e2e/*.cases | grep -oE '^[a-z_0-9]+\(\)' | sort | uniq -d)
[ -z "$twice" ] || { echo "tests/e2e: defined twice: $twice"; failed=1; }
for name in $(sed -n 's/^# alone://p' tests/e2e/*.cases); do
	grep -q "^case_$name()" tests/e2e/*.cases || { echo "tests/e2e: alone, and no case: $name"; failed=1; }
done
# Root opens no name below build/, which the owner of the tree may swap.
if grep -nE '>>? *"?(\$PWD/)?build/' contrib/try | grep -v 'as_builder'; then
	echo 'contrib/try: a redirection of root into the tree'
	failed=1
fi
exit $failed
