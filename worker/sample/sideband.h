/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of one CPU's side-band: the ring of a dummy perf event that records executable mappings
 * and names of programs. perf_event_open(2) has the layout; attr: mmap, mmap2, comm, comm_exec,
 * sample_id_all, sample_type TID | TIME, clockid CLOCK_MONOTONIC.
 */
#ifndef KEYHOLE_WORKER_SAMPLE_SIDEBAND_H
#define KEYHOLE_WORKER_SAMPLE_SIDEBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

#define SIDEBAND_RECORD_MAX 8192

enum sideband_kind {
	SIDEBAND_MMAP,
	SIDEBAND_COMM,
	SIDEBAND_EXEC, /* COMM with the exec flag: a new program begins */
	SIDEBAND_LOST
};

struct sideband_record {
	enum sideband_kind kind;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t lost; /* SIDEBAND_LOST: how many records */
	/* SIDEBAND_MMAP */
	uint64_t start, end, offset, device, inode, inode_generation;
	const char *text; /* path or comm; valid until the next call */
};

struct sideband {
	struct perf_event_mmap_page *page;
	const unsigned char *data;
	uint64_t bytes; /* a power of two */
	uint64_t discarded;
	uint64_t records; /* read so far, those of no interest included */
	uint64_t end;	  /* of the records that sideband_next() returns before the next false */
	bool reading;
	unsigned char linear[SIDEBAND_RECORD_MAX]; /* a record that wraps */
};

/* Memory is borrowed: the control page, then the data. */
void sideband_init(struct sideband *sideband, void *page, const void *data, uint64_t bytes);
/* Skips the records of an earlier reader. */
void sideband_skip(struct sideband *sideband);
/*
 * Takes the next record of interest. False: there is none, or it came after the first call of this
 * series. Thus a flood of records cannot hold the reader for ever.
 */
bool sideband_next(struct sideband *sideband, struct sideband_record *ret_record);

/*
 * Parses one record with its head. Returns 1 for a record of interest, 0 for any other, or
 * -EBADMSG.
 */
int sideband_parse(const void *bytes, size_t size, struct sideband_record *ret_record);

#endif
