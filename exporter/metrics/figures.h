/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All numbers that an agent tells of itself, as they are at one moment. BPF's counters are read
 * from the kernel's map. The loader's and the worker's numbers are those of their last message. A
 * count never falls, whatever a message says: a reader would take that for a new process.
 */
#ifndef KEYHOLE_EXPORTER_METRICS_FIGURES_H
#define KEYHOLE_EXPORTER_METRICS_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "exporter/delivery/counts.h"
#include "exporter/metrics/shares.h"
#include "ipc/messages.h"

/* The exporter's own numbers. */
struct figures_own {
	uint64_t one;			/* 1: the value of what tells by its labels alone */
	uint64_t queue_age;		/* ns that the oldest window waits; 0: none does */
	uint64_t pages, pages_refused;	/* requests that got the page, and that got an error */
	uint64_t clients_dropped;	/* too slow, too many, or gone */
	uint64_t expected;		/* samples that the CPU time stands for */
	uint64_t pushes, pushes_failed; /* metrics sent to the server, and not */
};

struct figures {
	struct counters sampled; /* sums of all CPUs */
	struct message_status status;
	struct message_work work;
	struct delivery_counts delivery;
	struct figures_own own;
	struct shares shares;		      /* of the accounts */
	uint64_t agent_begun, exporter_begun; /* ns since 1970 */
	char host[CONFIG_HOST_BYTES];	      /* ends with a NUL; "": not to be told */
	bool has_server, has_push;
	/* BPF's counters, mapped; NULL: not there */
	const struct counters *rows;
	uint64_t cpus;
	struct counters first; /* sums when the exporter began */
	int cpu_time;	       /* /proc/stat; -1: not there */
	uint32_t frequency;    /* samples a second of CPU time */
	uint64_t first_ticks;  /* when the exporter began */
};

void figures_init(struct figures *ret_figures);
void figures_release(struct figures *figures);

/*
 * Maps the counters of BPF; the descriptor stays the caller's. Returns 0, -EPROTO for what the
 * loader cannot have meant, or the errno of mmap().
 */
int figures_map(struct figures *figures, const struct message_counters *counters, int fd);
/* Takes over the descriptor of /proc/stat. Returns 0, or -EPROTO as above. */
int figures_take_cpu_time(struct figures *figures, const struct message_sampling *sampling, int fd);
void figures_take_status(struct figures *figures, const struct message_status *status);
/* Takes what the worker says, which may be anything. */
void figures_take_work(struct figures *figures, const struct message_work *work);
/* Reads the counters of BPF anew. */
void figures_update(struct figures *figures);

#endif
