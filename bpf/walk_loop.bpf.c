/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux 5.17 and newer: bpf_loop, bpf_find_vma. */
#include "bpf/kernel_loop.bpf.h"
#include "bpf/sample.bpf.h"
