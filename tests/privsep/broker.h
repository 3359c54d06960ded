/* SPDX-License-Identifier: Apache-2.0 */
/* The real broker; the test plays loader and worker. Failures end the test. */
#ifndef KEYHOLE_TESTS_PRIVSEP_BROKER_H
#define KEYHOLE_TESTS_PRIVSEP_BROKER_H

#include "tests/privsep/child.h"

struct generation;

/* An array that can be mapped, or one of maps like `inner`. Keys have 4 bytes. */
int bpf_array(uint32_t type, uint32_t value_size, uint32_t entries, int inner);

/* Makes an empty map of segments. */
int segment_map(void);
void give_map(struct child *child, int map, uint32_t index);

/* Sets an entry in the map of processes that every broker here gets: generation and family 1. */
void follow(pid_t pid, uint32_t denied);
void follow_as(pid_t pid, const struct generation *generation);

/* Returns the map of grants that every broker here gets. */
int grant_map(void);

/* first: the segment that the worker asks for first, 0: behind all that there are. */
void start_broker_at(struct child *child, int map, uint32_t first);
void start_broker(struct child *child, int map);
/* Start with a rule about memory; NULL: none. The first one gives no channel to a worker. */
void begin_ruled_broker(struct child *child, int map, uint32_t first,
			const struct message_grant_rule *rule);
void start_ruled_broker(struct child *child, int map, uint32_t first,
			const struct message_grant_rule *rule);
/* Starts with an audit stream, whose end the caller owns. */
void start_audited_broker(struct child *child, int map, struct channel *ret_auditor);

/*
 * Sends one request and returns the error of its answer. The caller owns the descriptor that came,
 * or gets -1.
 */
int ask_thread(struct child *child, uint32_t pid, uint32_t thread, int *ret_fd);
int ask_maps(struct child *child, uint32_t pid, int *ret_fd);
int ask_object(struct child *child, const struct message_object *object,
	       struct message *ret_message);
int ask_segment(struct child *child, uint32_t index, int *ret_fd);
int ask_grant(struct child *child, const struct message_grant *grant);

#endif
