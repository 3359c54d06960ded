/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both processes that read what others wrote: what is open stays open, nothing else can be had. No
 * file, socket, process or executable memory, no capability, and no more memory and time than here.
 */
#ifndef KEYHOLE_SYMBOLIZE_CONFINE_H
#define KEYHOLE_SYMBOLIZE_CONFINE_H

#include <stdint.h>

struct confine_limits {
	uint64_t memory;  /* bytes that are its own: not mapped files */
	uint64_t file;	  /* bytes of a file that it writes; 0: no limit */
	uint64_t seconds; /* of CPU; 0: no limit */
};

/* 0 or a negative errno: then nothing must be read. To open a file is EACCES, as libdw tries to. */
int confine_reader(const struct confine_limits *limits);

#endif
