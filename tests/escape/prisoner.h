/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the prisoner. */
#ifndef KEYHOLE_TESTS_PRISONER_H
#define KEYHOLE_TESTS_PRISONER_H

#include "tests/escape/orders.h"

/* prisoner.c */
extern const struct surroundings *around;
extern int order_fd; /* what came with the order, or -1 */

/* attempts.c, held.c: 0 when it could be done, or a negative errno. */
void attempt_prepare(unsigned int number);
int64_t attempt(unsigned int number);
int64_t held_try(unsigned int number);

#endif
