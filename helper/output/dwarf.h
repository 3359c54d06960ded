/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has debug information read for the worker: one program for each object (object/dwarf/child.h),
 * which has the worker's files, and nothing of this process. Here no byte of them is read. Who asks
 * is not trusted: what it is told is bounded by numbers of objects and of files, and by time.
 */
#ifndef KEYHOLE_HELPER_OUTPUT_DWARF_H
#define KEYHOLE_HELPER_OUTPUT_DWARF_H

#include <stdint.h>

#include "object/dwarf/child.h"

struct debug_folders;
struct message_lines;

#define DWARF_OBJECTS_MAX 256
#define DWARF_TIME_MAX_MS 5000 /* all objects together */
#define DWARF_SLACK_MS	  100  /* what one takes longer than it was told; then it is killed */

struct dwarf {			    /* zero at first */
	int files[CHILD_FILES_MAX]; /* or why it is refused */
	unsigned int count;	    /* of files, for the next question */
	unsigned int asked;	    /* questions */
	uint64_t spent;		    /* ns */
};

/*
 * One of the files of the next question; taken. 0, or -EPROTO: too many. What is no regular file
 * that this process may open itself has the question refused.
 */
int dwarf_add_file(struct dwarf *dwarf, int fd);

/*
 * What the files have about the addresses (taken): a memfd that is no longer written to. The files
 * are forgotten. -EACCES: a descriptor was refused, see above; -ETIME: it took too long, or all
 * did; -E2BIG: too many objects; -ENOMEM, -EBADMSG: who read it needed more memory than it may
 * have, was ended by a signal; others.
 */
int dwarf_answer(struct dwarf *dwarf, const struct debug_folders *folders,
		 const struct message_lines *question, int addresses);

#endif
