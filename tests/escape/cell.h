/* SPDX-License-Identifier: Apache-2.0 */
/* A prisoner behind a real spawner, replaced each time it dies. */
#ifndef KEYHOLE_TESTS_CELL_H
#define KEYHOLE_TESTS_CELL_H

#include "loader/spawner.h"
#include "tests/escape/mask.h"
#include "tests/escape/orders.h"

enum outcome {
	OUTCOME_RETURNED, /* struct reply says what */
	OUTCOME_KILLED,	  /* by the filter */
	OUTCOME_ENDED,	  /* otherwise: the status says how */
};

struct cell {
	enum policy_role role;
	uint32_t off;	 /* layers */
	bool as_spawner; /* the prisoner takes no step of its own */
	struct spawner spawner;
	struct channel channel;
	bool alive;
	pid_t pid;
	int status; /* as from waitpid() */
	unsigned int started;
};

/* By its program's name; ROLE_SUPERVISED: of none. */
enum policy_role cell_role(const char *name);

/* Once, first: a mount namespace of our own; needs root (77 otherwise). */
void cell_setup(void);

void cell_open(struct cell *cell, enum policy_role role, uint32_t off);
void cell_close(struct cell *cell);
/* The next order goes to a new prisoner. */
void cell_renew(struct cell *cell);
/* Its end, as the spawner tells it: 0 and the status, or -ETIMEDOUT. For any child of a spawner. */
int cell_await_exit(struct spawner *spawner, int milliseconds, int *ret_status);
/* Starts one if none is alive. Failures of the test itself end it. */
enum outcome cell_do(struct cell *cell, struct order *order, int fd, int64_t *ret_result);

/* ---- TAP ---- */
void tap(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
int tap_end(void);
_Noreturn void give_up(const char *what);

#endif
