/* SPDX-License-Identifier: Apache-2.0 */
/* Shared parts of the privilege tests, which run as root and look at real children. */
#ifndef KEYHOLE_TESTS_PRIVSEP_H
#define KEYHOLE_TESTS_PRIVSEP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

#include "policy/policy.h"

#define USER_ID	 1000 /* no such account is needed */
#define GROUP_ID 1001

/* Ends with 77 where the tests cannot run. */
void privsep_need_root(void);

/* Puts links to the built programs beside the test, where the loader's code looks for them. */
int privsep_link_programs(void **state);

/* Runs the function in a fork. Returns the status as from waitpid(). */
int privsep_run(void (*function)(const void *argument), const void *argument);

/* Starts a fork that runs the function and then sleeps until privsep_end(). */
pid_t privsep_start(void (*function)(const void *argument), const void *argument);
void privsep_end(pid_t pid);

/* Returns the answer of policy_verify(), as soon as that is `expected` or after a second. */
uint32_t privsep_wait_verified(enum policy_role role, pid_t pid, unsigned int filters,
			       uint32_t expected);

/* Returns whether a process ends within a second, waited for or not. */
bool privsep_gone(pid_t pid);

/* Returns the number of open descriptors of a process. */
unsigned int privsep_count_fds(pid_t pid);

/*
 * Returns the first number of a line of /proc/<pid>/status. All bits are set without such a line.
 */
uint64_t privsep_status(pid_t pid, const char *field, int base);

/* Checks the uid that the loader has later, no_new_privs, and that no set holds a capability. */
void privsep_assert_no_rights(pid_t pid);

bool privsep_killed_by_filter(int status);

#endif
