/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of the build that captures (make LIMITS=). The copy of the stack uses the walk's time. */
#ifndef KEYHOLE_TESTS_ORACLE_CAPTURE_LIMITS_H
#define KEYHOLE_TESTS_ORACLE_CAPTURE_LIMITS_H

#define WALK_BUDGET_NS 5000000

#endif
