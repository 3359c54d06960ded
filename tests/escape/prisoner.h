/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the prisoner. */
#ifndef KEYHOLE_TESTS_PRISONER_H
#define KEYHOLE_TESTS_PRISONER_H

#include <errno.h>
#include <unistd.h>

#include "tests/escape/orders.h"

/* prisoner.c */
extern const struct surroundings *around;
extern int order_fd; /* what came with the order, or -1 */

/* attempts.c, held.c: 0 when it could be done, or a negative errno. */
void attempt_prepare(unsigned int number);
int64_t attempt(unsigned int number);
int64_t held_try(unsigned int number);

/* The raw call, as a compromised process makes it. */
#define CALL(...)                                        \
	({                                               \
		long result_ = syscall(__VA_ARGS__);     \
		result_ < 0 ? -(int64_t)errno : result_; \
	})
#define DONE(...)                                  \
	({                                         \
		int64_t done_ = CALL(__VA_ARGS__); \
		done_ < 0 ? done_ : 0;             \
	})

#define A(name, child, broker, loader) int64_t try_##name(void);
#include "tests/escape/attempts.def"
#undef A

#endif
