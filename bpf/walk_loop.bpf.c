/* SPDX-License-Identifier: GPL-2.0-only */
/* The object for Linux 5.17 and newer, with bpf_loop and bpf_find_vma. */
#include "bpf/kernel_loop.bpf.h"
#include "bpf/sample.bpf.h"
