/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of the spool: this head, then `bytes` bytes of a window. keyhole-output writes the head of
 * what the exporter says, and an exporter reads it, maybe after a restart of the machine. Numbers
 * are in the machine's own order: a file of another machine has another magic, or a wrong checksum.
 */
#ifndef KEYHOLE_IPC_SPOOL_H
#define KEYHOLE_IPC_SPOOL_H

#include <stdint.h>

#define SPOOL_MAGIC   0x6c6f6f707368656bull /* "kehspool" */
#define SPOOL_VERSION 1u

struct spool_head {
	uint64_t magic;
	uint64_t version;
	uint64_t bytes;	   /* of the window, which the file ends with */
	uint64_t events;   /* that the window has */
	uint64_t checksum; /* of the window's bytes, exporter/spool_file.h */
};

#endif
