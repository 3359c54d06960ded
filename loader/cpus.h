/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPUs that come online while keyhole samples. Nobody has the rights to open an event on them any
 * more. A CPU that was offline has lost its event: it counts as a new one when it comes back.
 */
#ifndef KEYHOLE_LOADER_CPUS_H
#define KEYHOLE_LOADER_CPUS_H

#include <stdint.h>

#include "bpf/abi.h"

struct cpus {
	int fd; /* the kernel's list of CPUs that are online; -1: none */
	uint64_t online[ABI_MAX_CPUS / 64];
	uint32_t appeared; /* since cpus_open() */
};

/*
 * Opens the list and reads it for the first time, before events are opened. Returns 0 or a negative
 * errno. Without the list, cpus_look() finds nothing.
 */
int cpus_open(struct cpus *ret_cpus);

/* Reads the list again. Returns how many CPUs of it were not there the last time. */
uint32_t cpus_look(struct cpus *cpus);

/* Reads a text such as "0-3,8\n". Returns 0, or -EBADMSG with *ret_online undefined. */
int cpus_parse(const char *text, uint64_t ret_online[static ABI_MAX_CPUS / 64]);

#endif
