/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How keyhole-symbolize is started as the process that reads one object's debug information:
 *
 *   keyhole-dwarf VERSION ADDRESSES FILES ALTERNATES MILLISECONDS
 *
 * with these descriptors open and no other. It confines itself, writes an answer (answer.h) and
 * ends with 0 or an errno; with EPROTO when it is of another version.
 */
#ifndef KEYHOLE_OBJECT_DWARF_CHILD_H
#define KEYHOLE_OBJECT_DWARF_CHILD_H

#define CHILD_PROGRAM "keyhole-symbolize"
#define CHILD_NAME    "keyhole-dwarf" /* argv[0] */

#define CHILD_ARGUMENTS 6
#define CHILD_ADDRESSES 3 /* uint64_t, ascending */
#define CHILD_ANSWER	4 /* memfd */
#define CHILD_FILES	5 /* and the next ones: files with debug information, then its alternate */

#define CHILD_FILES_MAX	    2
#define CHILD_ADDRESSES_MAX (1u << 17)
#define CHILD_MS_MAX	    10000u

/* 10 to 60 MB were measured, of programs with up to 16 MB of .debug_info. */
#define CHILD_MEMORY_MAX (512u << 20)
#define CHILD_ANSWER_MAX (16u << 20)

#endif
