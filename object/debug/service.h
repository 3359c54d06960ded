/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers the questions for debug information of messages.def, for the worker of a recording and
 * for the process of `keyhole symbolize` that has the profile: opens files by the user's rights,
 * and has them read by a process that can do nothing else (reader.h). The asker is not trusted: the
 * numbers of questions and files, and the time, are bounded by reader_limits.
 */
#ifndef KEYHOLE_OBJECT_DEBUG_SERVICE_H
#define KEYHOLE_OBJECT_DEBUG_SERVICE_H

#include <stdint.h>

#include "object/debug/reader.h"

struct channel;
struct debug_folders;

struct debug_service {
	const struct debug_folders *folders; /* borrowed */
	int program;			     /* borrowed: of reader_open_program() */
	struct reader_job job; /* of the next question; a file may be an errno: the refusal */
	uint32_t asked;	       /* questions */
	uint64_t spent;	       /* ns */
};

/* Prepares for an asker. The folders and the program are borrowed. */
void debug_service_init(struct debug_service *service, enum reader_purpose purpose,
			const struct debug_folders *folders, int program);

/* Answers until the asker is gone: -EPIPE; -EPROTO: the asker broke a rule; another negative
 * errno. */
int debug_service_run(struct debug_service *service, struct channel *asker);

#endif
