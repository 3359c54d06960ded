/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bpf/live_thread.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

int live_thread_get(int thread, struct live_thread *ret_thread)
{
	struct user_regs_struct regs = {0};
	int r = 0;

	if (ptrace(PTRACE_ATTACH, thread, NULL, NULL) < 0)
		return -errno;
	if (waitpid(thread, NULL, __WALL) != thread ||
	    ptrace(PTRACE_GETREGS, thread, NULL, &regs) < 0)
		r = -errno;
	ptrace(PTRACE_DETACH, thread, NULL, NULL);
	ret_thread->pointer = regs.fs_base;
	ret_thread->stack = regs.rsp;
	ret_thread->pc = regs.rip;
	memcpy(ret_thread->reg, &regs, sizeof(ret_thread->reg));
	return r;
}
