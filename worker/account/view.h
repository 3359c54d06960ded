/* SPDX-License-Identifier: Apache-2.0 */
/* One table of `keyhole stat`, as its writers get it: what was used since the table before. */
#ifndef KEYHOLE_WORKER_ACCOUNT_VIEW_H
#define KEYHOLE_WORKER_ACCOUNT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/account/amount.h"
#include "worker/account/energy.h"
#include "worker/account/reader.h"

struct output;

/* A process, several of one name, or a cgroup. Texts are clean (profile/format/names.h). */
struct view_row {
	struct amount amount;
	uint64_t ns;			 /* of amount, by which rows are sorted */
	uint32_t pid, thread, processes; /* as in struct row */
	const char *name;		 /* of processes; "" for all other names */
	const char *cgroup;		 /* its path, or its id where the path is not known */
};

struct view {
	uint64_t realtime; /* ns, at the end of the table */
	uint64_t elapsed;  /* ns */
	uint64_t number;   /* of tables before this one */
	bool by_cgroup, by_thread;
	uint64_t reference_hz;	   /* at which reference cycles are counted; 0: not known */
	struct accounts_sums sums; /* since the table before; `begin` and `cpus` are as they are */
	const struct energy *energy;   /* NULL: nobody asks for energy */
	struct energy_totals energies; /* since the table before; read_at: time between readings */
	struct view_row *rows;	       /* the one with the most CPU time first */
	size_t count;
};

/* Returns CPU time in user mode; *ret_system is the rest. false: no tick has come yet. */
bool view_split(const struct amount *amount, uint64_t *ret_user, uint64_t *ret_system);
/* Returns which part of the CPUs' time the sums miss, or count too much. */
double view_error(const struct view *view);
/* Returns whether this machine has the counters that tell the frequency. */
bool view_has_frequency(const struct view *view);
/* Returns the average frequency while the CPUs ran it, Hz; 0: this machine has no such counters. */
uint64_t view_frequency(const struct view *view, const struct amount *amount);
/* Returns the name of a counter, or NULL where this machine does not have it. */
const char *view_counter(const struct view *view, unsigned int counter);
/* Returns the kernel's name of a softirq. */
const char *view_softirq(unsigned int vector);

/* Returns whether the table has an estimate of energy: some zone of the sum was read. */
bool view_has_energy(const struct view *view);
/* Returns how many energy zones this machine shows. */
size_t view_zones(const struct view *view);

/* Write the table; errors go to the output (profile/format/output.h). */
void view_text(const struct view *view, struct output *output);
void view_json(const struct view *view, struct output *output);
void view_csv(const struct view *view, struct output *output);

#endif
