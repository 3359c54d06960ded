/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers questions for debug information (messages.def). The asker is the worker of a recording,
 * or the process of `keyhole symbolize` that has the profile. The service opens files by the user's
 * rights. A process that can do nothing else reads the files (reader.h).
 *
 * The asker is not trusted: reader_limits bounds the numbers of questions and files, and the time.
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
	struct reader_job
		job;	/* of the next question; a negative file is the errno of its refusal */
	uint32_t asked; /* questions */
	uint64_t spent; /* ns */
};

/* Prepares the service for one asker. The folders and the program are borrowed. */
void debug_service_init(struct debug_service *service, enum reader_purpose purpose,
			const struct debug_folders *folders, int program);

/*
 * Answers until the asker is gone, and returns a negative errno. -EPIPE: the asker has ended.
 * -EPROTO: the asker committed a violation.
 */
int debug_service_run(struct debug_service *service, struct channel *asker);

#endif
