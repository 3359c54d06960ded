/* SPDX-License-Identifier: Apache-2.0 */
/* The orders of a test to the prisoner, the program that stands in for a role's, over its fd 3. */
#ifndef KEYHOLE_TESTS_ORDERS_H
#define KEYHOLE_TESTS_ORDERS_H

#include <stdint.h>

#include "policy/policy.h"

#define ORDER_FD 3

enum order_kind {
	ORDER_NOTHING,
	ORDER_CALL,    /* a system call: number, argument */
	ORDER_INT80,   /* the same by the 32-bit entry, all arguments ones */
	ORDER_ATTEMPT, /* number: of attempts.def */
	ORDER_HELD,    /* number: of held.def, on the descriptor that comes along */
};

/* In place of an argument: the address of a path. */
#define ORDER_ROOT_PATH	 0xe5ca0001ull
#define ORDER_EMPTY_PATH 0xe5ca0002ull

/* The processes and things to be attacked; the same for every order of a test. */
struct surroundings {
	int32_t victim;	 /* a process of another user */
	int32_t sibling; /* one of the role's own */
	int32_t shm_key;
	uint16_t tcp_port, udp_port;
	uint64_t victim_address;
	char folder[64]; /* mode 0777 */
	unsigned char handle[136];
};

struct order {
	uint32_t off;	  /* layers, counts in the first order only */
	uint32_t spawner; /* be like the spawner: no step after exec */
	uint32_t kind, number;
	uint64_t argument[6];
	struct surroundings around;
};

struct reply {
	int64_t result; /* negative errno */
};

#endif
