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
	# A header that has the includer supply its environment compiles as in an object of new kernels.
	environment=
	! grep -q 'The includer' "$header" || environment='#include "bpf/kernel_loop.bpf.h"'
	printf '%s\n' "$environment" "#include \"$header\"" |
		$compile -Werror -Wno-unused -iquote . -iquote "$build" -fsyntax-only -xc - || failed=1
done
exit $failed
