#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Every header compiles alone, those below bpf/ for BPF (tests/bpf compiles them for the host).

build=${BUILD:-build}
failed=0
for header in $(tests/lint/sources product | grep '\.h$'); do
	if [ "${header#bpf/}" != "$header" ]; then
		compile="${CLANG:-clang} -O2 -target bpf -D__TARGET_ARCH_x86 -Wall -Wextra
			-Wno-unused-parameter -I/usr/include/$(uname -m)-linux-gnu"
	else
		compile="${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Wstrict-prototypes
			-Wmissing-prototypes -Wundef"
	fi
	# Says in its comment that what it needs comes from the includer: an object of new kernels.
	environment=
	! grep -q 'Needed from the includer' "$header" || environment='#include "bpf/kernel_loop.bpf.h"'
	printf '%s\n' "$environment" "#include \"$header\"" |
		$compile -Werror -Wno-unused -iquote . -iquote "$build" -fsyntax-only -xc - || failed=1
done
exit $failed
