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

#define TARGET_LEVELS	   5	      /* of cgroups, below the root */
#define TARGET_UID_UNKNOWN UINT32_MAX /* no user has this id */

/* The owner of a process, as BPF tells. cgroup, outer, session: 0, not known. */
struct target_group {
	uint64_t cgroup;
	uint32_t uid, session;
	uint32_t outer[TARGET_LEVELS]; /* as in struct event */
};

/* A process, and the thread through which it is reached: the main thread may have exited. */
struct target_process {
	uint32_t pid, thread;
	struct target_group group;
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
	TARGET_GRANT,	/* asks that BPF may read memory: a runtime is at start..end of `process` */
	TARGET_CODE,	/* asks for the file in which `process` names the code that it makes */
	/* asks for the context at start..end of `process`, or for variables of its environment */
	TARGET_CONTEXT,
	TARGET_CGROUPS, /* asks for the control groups of `process`; fd is the text */
	TARGET_KIND_COUNT
};

struct target_request {
	enum target_kind kind;
	struct target_process process; /* all but TARGET_SEGMENT */
	uint32_t index;		       /* TARGET_SEGMENT */
	bool want_fd;		       /* TARGET_OBJECT */
	uint64_t start, end;	       /* TARGET_OBJECT, TARGET_GRANT; CODE, CONTEXT: or 0, 0 */
	uint64_t generation;	       /* TARGET_GRANT, TARGET_CODE, TARGET_CONTEXT */
	void (*done)(void *context, uint64_t key, struct target_reply *reply);
	void *context;
	uint64_t key;
	unsigned int losses; /* brokers that were lost with the request; 0 at first */
};

struct target {
	/* Queues the request. 0: done() will be called, after this call; else a negative errno. */
	int (*ask)(struct target *target, const struct target_request *request);
	/* Returns whether requests about the process wait apart, maybe for long. NULL: never. */
	bool (*is_slow)(const struct target *target, const struct target_process *process);
	uint64_t slowed; /* count of groups that became slow */
	size_t waiting;	 /* requests that wait apart now */
};

static inline bool target_is_slow(const struct target *target, const struct target_process *process)
{
	return target && target->is_slow && target->is_slow(target, process);
}

#endif
