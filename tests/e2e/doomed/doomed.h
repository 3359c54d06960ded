/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own programs, made to end at a given moment (ld --wrap). They have neither arguments nor
 * files: the moment is written into the program itself, behind the marker, by restart.cases.
 */
#ifndef KEYHOLE_TESTS_DOOMED_H
#define KEYHOLE_TESTS_DOOMED_H

#include <stdint.h>

enum moment {
	MOMENT_NEVER,
	MOMENT_FIRST,	/* before READY */
	MOMENT_READY,	/* after it */
	MOMENT_RUN,	/* worker: in a turn; broker: while it waits */
	MOMENT_CORRUPT, /* the same, after it has written into all that it can write */
	MOMENT_PARSE,	/* worker: at the file with that build id */
	MOMENT_FINISH,	/* worker: after STOP */
	MOMENT_WRITE,	/* exporter: with half of the profile written */
	/* worker, from STOP on: */
	MOMENT_STOP,   /* before the first draft */
	MOMENT_SETTLE, /* while the last samples are read */
	MOMENT_NAMES,  /* between the last sample and the first name */
	MOMENT_LINES,  /* between the names and the lines */
	MOMENT_RENDER, /* with everything known */
	MOMENT_SENT,   /* between PROFILE and SUMMARY */
};

enum deed {
	DEED_SEGV,
	DEED_CALL, /* a system call that its filter refuses */
	DEED_EXIT,
	DEED_HANG /* until somebody kills the process */
};

struct doom {
	char marker[16];
	uint32_t moment, deed;
	uint64_t from;	   /* monotonic: not before */
	uint64_t epochs;   /* workers that do it: the first ones */
	char build_id[64]; /* hex */
};

extern volatile struct doom doom;

/* Does the deed, and does not return, if this is the moment. */
void doom_at(enum moment moment);
/* Whether it is, without doing it. */
int doom_is(enum moment moment);
void doom_epoch(uint64_t epoch); /* of this worker */

#endif
