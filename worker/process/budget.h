/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU time that parsing may cost. A payer is the cgroup of the process that asked for a file.
 * Where that cgroup is the root of all or unknown, the file's owner pays. A payer has 3 s at once
 * and 10 % of a CPU from then on; all payers together have 4 times as much. A payer that is
 * overdrawn rests until time has paid the debt. Nobody charges root's files outside of cgroups.
 *
 * Times are in ns, of one monotonic clock. The caller serialises the calls.
 */
#ifndef KEYHOLE_WORKER_PROCESS_BUDGET_H
#define KEYHOLE_WORKER_PROCESS_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/time.h"

#ifndef BUDGET_AT_ONCE
#define BUDGET_AT_ONCE (3 * NS_PER_SECOND)
#endif
#ifndef BUDGET_PERCENT
#define BUDGET_PERCENT 10u /* of a CPU, from then on */
#endif
#define BUDGET_ALL 4u /* times as much for all payers together */
/* While all together are overdrawn, payers with this part of their own allowance left go on. */
#define BUDGET_FRESH_PERCENT 90u

#define BUDGET_ROOT 0u /* a payer without a limit */

struct budget;

struct budget *budget_new(void);	 /* NULL: no memory */
void budget_free(struct budget *budget); /* NULL is fine */

/* Returns the payer of a file that has no other: its owner, by fstat(). fd -1: root. */
uint64_t budget_owner(int fd);
/* Returns the payer of a process in a cgroup (id, 0: not known) for a file of that owner. */
uint64_t budget_payer(uint64_t cgroup, uint64_t owner);

/* Returns whether work may begin. Work under way may overdraw the budget. */
bool budget_allows(const struct budget *budget, uint64_t payer, uint64_t now);
/* Returns the time from which on work may begin, if nobody is charged until then. */
uint64_t budget_allows_at(const struct budget *budget, uint64_t payer, uint64_t now);
/* Without memory for a new payer the charge counts for all together alone. */
void budget_charge(struct budget *budget, uint64_t payer, uint64_t used, uint64_t now);

#endif
