/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts about mounts, by the kernel's unique id of a mount (STATX_MNT_ID_UNIQUE, Linux 6.8). No
 * later mount gets the same id, so nobody can pass a mount off as another one.
 */
#ifndef KEYHOLE_LOADER_BROKER_VERDICTS_H
#define KEYHOLE_LOADER_BROKER_VERDICTS_H

#include <stdbool.h>
#include <stdint.h>

#define VERDICTS_MAX   4096
#define VERDICT_PROBES 16	  /* places where one mount may be */
#define VERDICT_ALWAYS UINT64_MAX /* for struct verdict.until */

struct verdict {
	uint64_t mount;	 /* unique id; 0: free place */
	uint64_t until;	 /* ns, monotonic: the verdict holds before */
	uint64_t used;	 /* ns, monotonic: the last time that somebody asked */
	int error;	 /* 0: allowed, or a negative errno */
	bool privileged; /* the host sees the mount: mounts of strangers take no such place */
};

struct verdicts {
	uint64_t key; /* random */
	struct verdict places[VERDICTS_MAX];
};

/* Returns 0 or a negative errno. */
int verdicts_init(struct verdicts *verdicts);
/* Returns whether a verdict is known, and sets *ret_error to the verdict. */
bool verdicts_find(struct verdicts *verdicts, uint64_t mount, uint64_t now, int *ret_error);
/* Remembers a verdict in the place of the one that was not used for the longest time. */
void verdicts_add(struct verdicts *verdicts, const struct verdict *verdict);

#endif
