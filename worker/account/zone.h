/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One energy zone of the kernel (Documentation/power/powercap/powercap.rst): what its files say,
 * and the sum of what its counter has counted. A file may say anything: a zone that makes no sense
 * is left out from then on, with a reason.
 */
#ifndef KEYHOLE_WORKER_ACCOUNT_ZONE_H
#define KEYHOLE_WORKER_ACCOUNT_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Names of drivers/powercap/intel_rapl_common.c. Zones overlap: psys has the packages in it, and a
 * package its cores and the rest (uncore).
 */
enum zone_kind {
	ZONE_PACKAGE,
	ZONE_DRAM, /* apart from its package */
	ZONE_CORE,
	ZONE_UNCORE,
	ZONE_PSYS,
	ZONE_KINDS
};

#define ZONE_NAME_BYTES 24
#define ZONE_TEXT_BYTES 64 /* of a file; what is longer is refused */

struct zone {
	uint32_t number; /* ZONE_NUMBER() of ipc/zones.h */
	enum zone_kind kind;
	char name[ZONE_NAME_BYTES]; /* of the file, checked: "package-0" */
	int fd;			    /* owned: energy_uj; -1: not read */
	uint64_t range;		    /* uJ: the counter begins again at 0 behind it */
	uint64_t last;		    /* uJ: the reading before */
	uint64_t read_at;	    /* CLOCK_MONOTONIC, ns: of that reading; 0: none yet */
	uint64_t total;		    /* uJ since the first reading */
	const char *reason;	    /* why the zone is left out; NULL: it is not */
};

/* Returns whether the text is a decimal number of 64 bits alone, a line at most. */
bool zone_parse_number(const void *text, size_t size, uint64_t *ret_number);
/* Sets kind and name. Returns false for a name that is no zone's. */
bool zone_parse_name(struct zone *zone, const void *text, size_t size);

/* Returns whether the zone's energy is a part of the sum: packages and their memory. */
bool zone_is_summed(const struct zone *zone);

/* Leaves a zone out, and closes its file. The first reason stays. */
void zone_leave_out(struct zone *zone, const char *reason);

/* Adds what the counter has counted since the reading before. */
void zone_advance(struct zone *zone, uint64_t value, uint64_t now);

/* Reads a file from its start into a buffer of ZONE_TEXT_BYTES. Returns the size or -errno. */
int zone_read_file(int fd, char *ret_text);
/* Reads the counter, and advances. Returns whether the zone is still there. */
bool zone_read(struct zone *zone, uint64_t now);

#endif
