/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the worker reaches targets. Requests are queued and answered later, in order. A context and a
 * key name the asker, who may be gone when the answer comes.
 */
#ifndef KEYHOLE_WORKER_TARGET_TARGET_H
#define KEYHOLE_WORKER_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process, and the thread through which it is reached: the main thread may have exited. */
struct target_process {
	uint32_t pid, thread;
};

struct target_identity {
	uint64_t device, inode, size, change_time;
};

struct target_reply {
	int error; /* 0, or a negative errno: then the other fields mean nothing */
	int fd;	   /* -1, or a descriptor, which is closed after done() unless done() takes it */
	struct target_identity identity; /* TARGET_OBJECT */
};

enum target_kind {
	TARGET_MAPS,	/* asks for the mappings of `process`; fd is the text */
	TARGET_OBJECT,	/* asks to identify, or open, the object at start..end of `process` */
	TARGET_SEGMENT, /* asks for one more segment for tables; fd is to be mapped */
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
	/* Queues the request. 0: done() will be called, after this call; else a negative errno. */
	int (*ask)(struct target *target, const struct target_request *request);
};

#endif
