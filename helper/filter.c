/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "policy/policy_impl.h"

/* clang-format off */
#define CALL(name)	   {SCMP_SYS(name), 0, {0}}
#define CALL_IF(name, ...) {SCMP_SYS(name), 1, {__VA_ARGS__}}

/* Of a descriptor the C library asks what it is before it reads or writes text. */
static const struct {
	int number;
	unsigned int conditions;
	struct scmp_arg_cmp condition;
} calls[] = {
	CALL(recvmsg), CALL(sendmsg), CALL(poll), CALL(write), CALL(lseek), CALL(close),
	CALL(fstat), CALL_IF(newfstatat, 3, SCMP_CMP_EQ, AT_EMPTY_PATH, 0),
	CALL_IF(fcntl, 1, SCMP_CMP_EQ, F_SETFD, 0),
	CALL_IF(setsockopt, 1, SCMP_CMP_EQ, SOL_SOCKET, 0),
	CALL(brk), CALL(munmap), CALL(mremap), CALL_IF(mmap, 2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
	CALL(clock_gettime), CALL(getrandom),
	CALL(exit_group), CALL(restart_syscall), CALL(rt_sigreturn),
};
/* clang-format on */

int filter_put_on(const int *more, size_t count)
{
	scmp_filter_ctx filter;
	int r;

	if (POLICY_UNCONFINED)
		return 0;
	filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	r = filter ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < sizeof(calls) / sizeof(*calls); i++)
		r = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, calls[i].number,
					   calls[i].conditions, &calls[i].condition);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, more[i], 0, NULL);
	r = r ? r : seccomp_load(filter);
	seccomp_release(filter);
	return r;
}
