/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An estimate of who has used the energy that the kernel's zones have counted. Packages and their
 * memory are summed; zones that overlap with them are only shown. The sum is shared out by the time
 * of the CPUs: idle time and interrupts have parts of their own. Threads share theirs by CPU time,
 * or by cycles where all CPUs count them. All parts together are the sum, to the microjoule.
 */
#ifndef KEYHOLE_WORKER_ACCOUNT_ENERGY_H
#define KEYHOLE_WORKER_ACCOUNT_ENERGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/zones.h"
#include "worker/account/zone.h"

struct accounts_sums;
struct row;

enum energy_part {
	ENERGY_ROWS, /* processes, or cgroups, that have rows */
	ENERGY_OTHERS,
	ENERGY_DENIED,
	ENERGY_UNLISTED,
	ENERGY_UNSEEN,
	ENERGY_THREADS, /* number of the parts above */
	ENERGY_IDLE = ENERGY_THREADS,
	ENERGY_SOFTIRQS,
	ENERGY_HARDIRQS,
	ENERGY_PARTS
};

/* All words count up, in uJ. measured = the sum of all parts. */
struct energy_totals {
	uint64_t measured;
	uint64_t part[ENERGY_PARTS];
	uint64_t zone[ZONES_MAX]; /* of each zone of the list */
	uint64_t read_at;	  /* CLOCK_MONOTONIC, ns: of the last reading; 0: none */
	uint64_t readings;	  /* of zones that are summed */
};

struct energy {
	int error; /* 0, or why there is no zone: a negative errno */
	struct zone zones[ZONES_MAX];
	size_t count;
	uint32_t next; /* index of the file that comes next at the earliest */
	uint64_t summed;
	bool by_cycles; /* the last time */
	struct energy_totals totals;
};

void energy_init(struct energy *energy, int error);
void energy_release(struct energy *energy);

/*
 * Takes one file of a zone, in any case. Files come in the order of their indices, all of a zone.
 * Returns 0 or -EINVAL, -ENOSPC.
 */
int energy_add(struct energy *energy, uint32_t index, int fd);

/* Reads all zones, which is to happen often enough that no counter goes round twice. */
void energy_read(struct energy *energy, uint64_t now);

/*
 * Shares out what was summed since the last call. sums: of the time since then; rows: all that the
 * time has rows for, of which each has the difference of total and mark. Adds to totals and to
 * `energy` of each row.
 */
void energy_charge(struct energy *energy, const struct accounts_sums *sums, struct row **rows,
		   size_t count);

/* Returns what has come since earlier totals; read_at is the time between the readings then. */
struct energy_totals energy_since(const struct energy_totals *now,
				  const struct energy_totals *before);

/* Writes what a zone is called: "package-0", "package-0/core"; refused ones "intel-rapl:0:1". */
#define ENERGY_LABEL_BYTES (2 * ZONE_NAME_BYTES)
void energy_label(const struct energy *energy, const struct zone *zone,
		  char ret_label[static ENERGY_LABEL_BYTES]);
/* Returns why there are no zones, or NULL where there are some. */
const char *energy_absence(const struct energy *energy);

#endif
