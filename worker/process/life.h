/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies what BPF programs and side-band tell of processes, by time: processes begin, fork, start
 * programs, get mappings and names, end.
 */
#ifndef KEYHOLE_WORKER_PROCESS_LIFE_H
#define KEYHOLE_WORKER_PROCESS_LIFE_H

#include <stdbool.h>
#include <stdint.h>

struct event;
struct event_code;
struct launches;
struct lister;
struct process;
struct roster;
struct tracker_mapping;
struct tracker_parts;

struct life {
	const struct tracker_parts *parts; /* borrowed, as all pointers here */
	struct roster *roster;
	struct lister *lister;
	struct launches *launches;
	uint64_t refused; /* mappings beyond MAPPINGS_MAX, or without memory */
	uint64_t unread;  /* events about code that cannot be read */
};

/* See tracker.h. */
void life_event(struct life *life, const struct event *event);
void life_code(struct life *life, const struct event_code *event);
void life_comm(struct life *life, uint64_t time, uint32_t pid, uint32_t tid, const char *comm,
	       bool exec);
void life_mmap(struct life *life, uint64_t time, uint32_t pid,
	       const struct tracker_mapping *mapping);
struct process *life_process(struct life *life, uint32_t pid, uint64_t generation, uint64_t time,
			     uint64_t now);

#endif
