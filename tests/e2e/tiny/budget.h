/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time that parsing may cost: ns, and percent of a CPU. */
#define BUDGET_AT_ONCE 100000ull
#define BUDGET_PERCENT 1u
