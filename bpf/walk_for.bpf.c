/* SPDX-License-Identifier: GPL-2.0-only */
/* The object for Linux 5.10 and newer, which mentions no helper that takes a callback. */
#include "bpf/kernel_for.bpf.h"
#include "bpf/sample.bpf.h"
