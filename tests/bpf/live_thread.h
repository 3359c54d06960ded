/* SPDX-License-Identifier: Apache-2.0 */
/* A thread of a running process. <sys/wait.h> and bpf/walk/walk.bpf.h name registers alike. */
#ifndef KEYHOLE_TESTS_BPF_LIVE_THREAD_H
#define KEYHOLE_TESTS_BPF_LIVE_THREAD_H

#include <stdint.h>

#define LIVE_THREAD_WORDS 16u

struct live_thread {
	uint64_t pointer, stack, pc;
	uint64_t reg[LIVE_THREAD_WORDS]; /* the first ones of struct pt_regs */
};

/* Gets pointers and registers, by stopping the thread for a moment. Returns 0 or an errno < 0. */
int live_thread_get(int thread, struct live_thread *ret_thread);

#endif
