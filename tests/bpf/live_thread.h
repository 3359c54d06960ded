/* SPDX-License-Identifier: Apache-2.0 */
/* A thread of a running process. <sys/wait.h> and bpf/walk/walk.bpf.h name registers alike. */
#ifndef KEYHOLE_TESTS_BPF_LIVE_THREAD_H
#define KEYHOLE_TESTS_BPF_LIVE_THREAD_H

#include <stdint.h>

/*
 * Gets the thread pointer and the stack pointer, by stopping the thread for a moment. Returns 0 or
 * a negative errno.
 */
int live_thread_pointers(int thread, uint64_t *ret_pointer, uint64_t *ret_stack);

#endif
