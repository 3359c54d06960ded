/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Payloads of ipc/messages.def. Fixed size, fixed-width fields, no pointers, no padding and no byte
 * without a meaning. Times are nanoseconds, CLOCK_MONOTONIC unless the name says realtime.
 */
#ifndef KEYHOLE_IPC_MESSAGES_H
#define KEYHOLE_IPC_MESSAGES_H

#include <stdint.h>

enum message_party {
	PARTY_LOADER,
	PARTY_WORKER,
	PARTY_EXPORTER,
	PARTY_BROKER,
	PARTY_POLICY,
	PARTY_SPAWNER,
	PARTY_COMMITTER,
	PARTY_CHILD, /* worker, exporter, broker or policy */
};

enum message_phase {
	PHASE_START,
	PHASE_RUN,
	PHASE_FINISH
};

enum message_type {
	MESSAGE_NONE,
#define M(name, from, to, first, last, payload, fds, times) MESSAGE_##name,
#include "ipc/messages.def"
#undef M
	MESSAGE_COUNT
};

struct message_head {
	uint32_t magic; /* MESSAGE_MAGIC */
	uint16_t type;
	uint16_t version;  /* MESSAGE_VERSION: all processes are of one build */
	uint32_t sequence; /* counts up per direction and socket, from 1 */
	uint32_t reply_to; /* sequence of the request, else 0 */
};
#define MESSAGE_MAGIC	0x6c68796bu
#define MESSAGE_VERSION 1

struct message_none {
};

/* Child to loader: confined. Layers are bits of policy/layers.def. */
struct message_ready {
	uint32_t role;	  /* enum message_party */
	uint32_t lacking; /* layers that this kernel does not have */
	uint32_t proven;  /* layers whose test, from inside, showed that they hold */
	char build[24];	  /* version string; must equal the loader's */
};

/*
 * One line of the policy file, in the order of the kinds and of the texts; the last row is END with
 * the hash, or the first is ERROR with the reason. Texts are printable ASCII, padded with NULs.
 */
enum policy_row_kind {
	ROW_END,   /* value: how many came before */
	ROW_ERROR, /* line 0: the file as a whole */
	ROW_UID,   /* value: the uid */
	ROW_CGROUP,
	ROW_COMM,
	ROW_EXECUTABLE,
	ROW_FREQUENCY, /* value: Hz */
	ROW_NAMES,     /* value: NAMES_BITS() */
	ROW_KINDS
};
#define POLICY_TEXT_BYTES 480
struct message_policy_row {
	uint32_t kind, line, value;
	char text[POLICY_TEXT_BYTES];
};
#define DENY_RULES_MAX 64u /* of each kind */
/* How each kind is written, before its text. */
#define POLICY_ROW_WORDS                                                                     \
	{                                                                                    \
		[ROW_END] = "hash ", [ROW_UID] = "deny uid ", [ROW_CGROUP] = "deny cgroup ", \
		[ROW_COMM] = "deny comm ", [ROW_EXECUTABLE] = "deny executable ",            \
		[ROW_FREQUENCY] = "max-frequency ", [ROW_NAMES] = "names ",                  \
	}

/* What becomes of names of targets, two bits for each kind of them. */
enum names_kind {
	NAMES_COMM,
	NAMES_PATH,
	NAMES_THREAD,
	NAMES_FUNCTION,
	NAMES_KINDS
};
enum names_mode {
	NAMES_KEEP,
	NAMES_DROP,
	NAMES_HASH
};
#define NAMES_BITS(kind, mode)	((mode) << 2 * (kind))
#define NAMES_MODE(names, kind) ((names) >> 2 * (kind)&3)

#define CONFIG_BY_THREAD   1u
#define CONFIG_VERBOSE	   2u
#define CONFIG_NAMES_SHIFT 8 /* NAMES_BITS() from this bit on */

enum profile_format {
	FORMAT_FOLDED = 1,
	FORMAT_PPROF = 2
};

struct message_config {
	uint64_t period;	 /* ns of CPU time per sample */
	uint32_t cpus;		 /* rings: entries 0..cpus-1 of the ring map */
	uint32_t ring_bytes;	 /* of each */
	uint32_t sideband_bytes; /* data part of each side-band ring */
	uint32_t segments;	 /* attached at start */
	uint32_t flags;		 /* CONFIG_* */
	uint32_t format;	 /* enum profile_format */
};

enum descriptor_kind {
	DESCRIPTOR_RINGS = 1,	   /* mmapable array: cpus * ring_bytes */
	DESCRIPTOR_TAILS,	   /* mmapable array: struct ring_tails */
	DESCRIPTOR_PROCESSES,	   /* mmapable array: struct process_table */
	DESCRIPTOR_EVENTS,	   /* BPF ring buffer of struct event, EVENT_RING_BYTES */
	DESCRIPTOR_SEGMENT,	   /* index = segment number */
	DESCRIPTOR_SIDEBAND,	   /* index = CPU; perf event fd that can sample nothing */
	DESCRIPTOR_KERNEL_SYMBOLS, /* sealed memfd, see ipc/ksyms_file.h */
	DESCRIPTOR_BROKER,	   /* socket */
	DESCRIPTOR_EXPORTER,	   /* socket */
};
struct message_descriptor {
	uint32_t kind; /* enum descriptor_kind */
	uint32_t index;
};

struct message_progress {
	uint64_t samples, complete;
};

#define LOG_TEXT_BYTES 232
struct message_log {
	uint32_t level; /* enum log_level */
	uint32_t length;
	char text[LOG_TEXT_BYTES]; /* printable ASCII only, the loader checks */
};

struct message_stop {
	uint64_t started, stopped;
};

enum summary_limit {
#define L(name, help) LIMIT_##name,
#include "ipc/limits.def"
#undef L
	LIMIT_COUNT
};

#define SUMMARY_REASONS 32
#define SUMMARY_LIMITS	20
struct message_summary {
	uint64_t without_names;		  /* the innermost frame has no symbol's name */
	uint64_t discarded;		  /* records that were not well-formed */
	uint64_t unkept;		  /* records that there was no memory for */
	uint64_t reason[SUMMARY_REASONS]; /* by enum sample_reason of bpf/abi.h */
	uint64_t limit[SUMMARY_LIMITS];	  /* by enum summary_limit */
};

_Static_assert(LIMIT_COUNT <= SUMMARY_LIMITS, "the summary has room for each limit");

struct message_maps {
	uint32_t pid;
};

struct message_reply {
	int32_t error; /* 0 or a negative errno */
};

#define OBJECT_WANT_FD 1u
struct message_object {
	uint64_t start, end; /* of the mapping, as the kernel lists it */
	uint32_t pid;
	uint32_t flags; /* OBJECT_WANT_FD: open it, else identify it only */
};
struct message_object_reply {
	int32_t error;		     /* 0 or a negative errno */
	uint32_t change_nanoseconds; /* realtime, with change_seconds */
	uint64_t device;	     /* makedev(stx_dev_major, stx_dev_minor) */
	uint64_t inode, size, change_seconds;
};

struct message_segment {
	uint32_t index; /* must be the next one */
};

struct message_profile {
	uint64_t bytes; /* size of the sealed memfd */
};
struct message_written {
	int32_t error;	/* 0 or a negative errno */
	uint32_t bytes; /* no more than a profile may have */
};

/* The child comes as a pidfd, because its number is another one in its namespace. */
struct message_spawned {
	int32_t error;	  /* 0 or a negative errno */
	uint32_t lacking; /* layers that cannot be had: policy_fork(), policy_isolate() */
	uint32_t proven;  /* layers that were seen to hold */
};
struct message_exited {
	int32_t status; /* as from waitpid() */
};

#define MESSAGE_PAYLOAD_MAX 512u

/* One row of the table, for checks and tests. */
struct message_rule {
	const char *name;
	uint8_t from, to;    /* enum message_party */
	uint8_t first, last; /* enum message_phase */
	uint16_t payload;    /* exact size */
	uint8_t fds;	     /* 0, 1, FDS_REPLY or FDS_MAYBE */
	uint8_t once;
};
#define FDS_REPLY 2
#define FDS_MAYBE 3

/* NULL for a type that does not exist. */
const struct message_rule *message_rule(unsigned int type);

/* The program's name: "keyhole", "keyhole-worker", ... */
const char *message_party_name(enum message_party party);

#define M(name, from, to, first, last, payload, fds, times)                   \
	_Static_assert(sizeof(struct payload) % 4 == 0 &&                     \
			       sizeof(struct payload) <= MESSAGE_PAYLOAD_MAX, \
		       #name " has a fixed, aligned size");
#include "ipc/messages.def"
#undef M

#endif
