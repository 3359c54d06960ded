/* SPDX-License-Identifier: GPL-2.0-only */
/* Kinds of functions, a bound and two reads, for every object of BPF programs. */
#ifndef KEYHOLE_BPF_BASE_BPF_H
#define KEYHOLE_BPF_BASE_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "bpf/kernel.h"
#include "bpf/walk/walk.bpf.h"

#define INLINE static inline __attribute__((always_inline))
#define GLOBAL __attribute__((noinline))

/*
 * Bounds the very register that is used: a C comparison may bound a copy, which the verifiers of
 * 5.10 and 6.1 refuse.
 */
#define BOUND(x, n)                                                                   \
	({                                                                            \
		u64 bounded_ = (x);                                                   \
		asm volatile("if %0 < %1 goto +1; %0 = 0" : "+r"(bounded_) : "i"(n)); \
		bounded_;                                                             \
	})

/*
 * These two read a number. For a pointer that a program loads, the verifier searches all types by
 * name, several times (btf_nested_type_is_trusted(), since 6.3). A start took 20 ms longer.
 */
INLINE u64 task_mm(struct task_struct *task)
{
	return (u64)BPF_CORE_READ(task, mm);
}

INLINE u64 task_signal(struct task_struct *task)
{
	return (u64)BPF_CORE_READ(task, signal);
}

#endif
