/* SPDX-License-Identifier: Apache-2.0 */
/* What the privilege tests share: they run as root and look at real children. */
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

/* Exits with 77 where the tests cannot run. */
void privsep_need_root(void);

/* Puts links to the built programs beside the test, where the loader's code looks for them. */
int privsep_link_programs(void **state);

/* Runs it in a fork; status as from waitpid(). */
int privsep_run(void (*function)(const void *argument), const void *argument);

/* A fork that runs the function and then sleeps until privsep_end(). */
pid_t privsep_start(void (*function)(const void *argument), const void *argument);
void privsep_end(pid_t pid);

/* policy_verify(), as soon as its answer is `expected` or after a second. */
uint32_t privsep_wait_verified(enum policy_role role, pid_t pid, unsigned int filters,
			       uint32_t expected);

/* Whether it ends within a second; nobody need have waited for it. */
bool privsep_gone(pid_t pid);

/* Open descriptors of a process. */
unsigned int privsep_count_fds(pid_t pid);

/* The first number of a line of /proc/<pid>/status, all bits set: there is no such line. */
uint64_t privsep_status(pid_t pid, const char *field, int base);

/* The uid that the loader has later, no_new_privs, no capability in any set. */
void privsep_assert_no_rights(pid_t pid);

bool privsep_killed_by_filter(int status);

#endif
