/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the process that has the profile and the one that may open files: a question and an
 * answer, one object at a time. Addresses and answers are in two memfds that both had from the
 * start; nobody writes to one while another reads it.
 */
#ifndef KEYHOLE_VIEW_SYMBOLIZE_EXCHANGE_H
#define KEYHOLE_VIEW_SYMBOLIZE_EXCHANGE_H

#include <stdint.h>

#define EXCHANGE_ID_MAX	       64 /* bytes of a build id */
#define EXCHANGE_PATH_MAX      4096
#define EXCHANGE_ADDRESSES_MAX (4u << 20) /* of one object */

struct exchange {
	int socket;    /* SOCK_SEQPACKET */
	int addresses; /* memfd: uint64_t, ascending */
	int answer;    /* memfd: object/dwarf/answer.h */
};

struct ask {
	uint32_t count;	  /* of addresses */
	uint32_t id_size; /* 1..EXCHANGE_ID_MAX */
	unsigned char id[EXCHANGE_ID_MAX];
	char path[EXCHANGE_PATH_MAX]; /* of the object, NUL-terminated; "": none */
};

struct told {
	int32_t error;	/* 0, or -ENOENT: no file has that build id; another negative errno */
	int32_t signal; /* that ended the process which read it, else 0 */
};

#endif
