/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the worker reaches other processes. Requests are queued and answered later, in order. A
 * context and a key name the asker, so that the asker may be gone when the answer comes.
 */
#ifndef KEYHOLE_WORKER_TARGET_TARGET_H
#define KEYHOLE_WORKER_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The process, and a thread of that process to ask through: the main thread may have exited. */
struct target_process {
	uint32_t pid, thread;
};

struct target_identity {
	uint64_t device, inode, size, change_time;
};

struct target_reply {
	int error; /* 0 or a negative errno; then there is nothing else */
	int fd;	   /* -1, or the receiver's: it takes it or leaves it to be closed */
	struct target_identity identity; /* TARGET_OBJECT */
};

enum target_kind {
	TARGET_MAPS,	/* list the mappings of process: fd of the text */
	TARGET_OBJECT,	/* identify, or open, what is mapped at start..end of process */
	TARGET_SEGMENT, /* one more segment for tables: fd to map */
	TARGET_KIND_COUNT
};

struct target_request {
	enum target_kind kind;
	struct target_process process; /* TARGET_MAPS, TARGET_OBJECT */
	uint32_t index;		       /* TARGET_SEGMENT */
	bool want_fd;		       /* TARGET_OBJECT */
	uint64_t start, end;	       /* TARGET_OBJECT */
	void (*done)(void *context, uint64_t key, struct target_reply *reply);
	void *context;
	uint64_t key;
};

struct target {
	/* 0: done() will be called, never from within this call; else a negative errno. */
	int (*ask)(struct target *target, const struct target_request *request);
};

#endif
