/* SPDX-License-Identifier: GPL-2.0-only */
/* Linux 5.10 and newer: helpers that take a callback are not even mentioned. */
#include "bpf/kernel_for.bpf.h"
#include "bpf/sample.bpf.h"
