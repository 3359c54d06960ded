/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Payloads of ipc/messages.def. Each has a fixed size and fixed-width fields, without pointers,
 * padding or reserved bytes. Times are nanoseconds of CLOCK_MONOTONIC, unless the comment says
 * realtime.
 */
#ifndef KEYHOLE_IPC_MESSAGES_H
#define KEYHOLE_IPC_MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/exit_status.h"

enum message_party {
	PARTY_LOADER,
	PARTY_WORKER,
	PARTY_EXPORTER,
	PARTY_BROKER,
	PARTY_SPAWNER,
	PARTY_COMMITTER,
	PARTY_KERNEL_SYMBOLS,
	PARTY_OPTIONS,
	PARTY_AUDITOR,
	PARTY_RULES,
	PARTY_CONNECTOR,
	PARTY_DEBUG,
	PARTY_VIEWER,
	PARTY_CHILD, /* worker, exporter or broker */
	PARTY_ASKER, /* worker or viewer */
};

enum message_phase {
	PHASE_START,
	PHASE_RUN,
	PHASE_FINISH
};

enum message_type {
	MESSAGE_NONE,
#define M(name, from, to, first, last, payload, fds, times, reply) MESSAGE_##name,
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

/* Says that the child is confined. Layers are bits of policy/layers.def. */
struct message_ready {
	uint32_t role;	  /* enum message_party */
	uint32_t lacking; /* layers that this kernel does not have */
	uint32_t proven;  /* layers whose test, from inside, showed that they hold */
	char build[24];	  /* version string; must equal the loader's */
};

/* Flags of the command line. A message for which only some flags matter ignores the others. */
#define OPTIONS_FORCE	      1u
#define OPTIONS_BY_THREAD     2u
#define OPTIONS_VERBOSE	      4u
#define OPTIONS_QUIET	      8u
#define OPTIONS_NO_INLINE     16u
#define OPTIONS_COMM	      32u
#define OPTIONS_WHY	      64u     /* the result is a text about one process, no profile */
#define OPTIONS_SOME	      128u    /* -p or a command: only known processes and their children */
#define OPTIONS_CGROUP	      256u    /* --cgroup: only processes of a cgroup */
#define OPTIONS_NATIVE_FRAMES 512u    /* interpreters keep their own frames, too */
#define OPTIONS_OTLP_COMPAT   2048u   /* no value that only the newest receivers know */
#define OPTIONS_AGENT	      1024u   /* profiles go to a server, or into a folder */
#define OPTIONS_METRICS	      4096u   /* the agent tells of itself */
#define OPTIONS_LOG_JSON      8192u   /* log lines are objects of JSON */
#define OPTIONS_GO_LABELS     16384u  /* labels of goroutines */
#define OPTIONS_STAT	      32768u  /* no profile: a table of accounts (bpf/abi.h) */
#define OPTIONS_STAT_JSON     65536u  /* each table is an object of JSON */
#define OPTIONS_STAT_CSV      131072u /* rows have their values between commas */
#define OPTIONS_BY_CGROUP     262144u /* OPTIONS_STAT: rows are cgroups */
#define OPTIONS_COUNTERS      524288u /* of accounts: counters of perf events as well */
#define OPTIONS_ACCOUNTS      1048576u /* OPTIONS_METRICS: accounts beside the profile */
#define OPTIONS_OFF_CPU	      2097152u /* time off the CPU; without OPTIONS_WALL that alone */
#define OPTIONS_WALL	      4194304u /* with OPTIONS_OFF_CPU: time on the CPU as well */
/* of most processes nothing is wanted */
#define OPTIONS_FEW	  (OPTIONS_SOME | OPTIONS_CGROUP)
#define OPTIONS_FLAGS	  8388607u /* all of them */
#define OPTIONS_EVERY_MAX 255u	   /* seconds between the profiles of a stream */

/* Kinds of names that targets choose, and what the worker does with a kind under the policy. */
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
	NAMES_HASH,
	NAMES_MODES
};

enum profile_format {
	FORMAT_NONE,
#define F(number, id, name, suffix, help) FORMAT_##id = (number),
#include "ipc/formats.def"
#undef F
	FORMAT_COUNT
};

struct message_sampling {
	uint64_t period; /* of the event; 0: by frequency, so that a sample stands for CPU time */
	uint32_t event;	 /* row of ipc/events.def, or 0, see there */
	uint32_t frequency; /* samples a second and CPU; with a period: the most of them */
};

#define ACCOUNTS_TOP_MAX   100u
#define OPTIONS_COMM_BYTES 64
#define CONFIG_HOST_BYTES  72 /* __NEW_UTS_LEN of Linux is 64; and a multiple of 8 */
struct message_config {
	struct message_sampling sampling;
	uint64_t epoch;		 /* of the worker, see bpf/abi.h; 0: the first worker */
	uint64_t off_cpu_min;	 /* OPTIONS_OFF_CPU: shorter waits are left out; ns */
	uint32_t cpus;		 /* rings: entries 0..cpus-1 of the ring map */
	uint32_t ring_bytes;	 /* of each ring */
	uint32_t sideband_bytes; /* data part of each side-band ring */
	uint32_t segments;	 /* attached at start */
	uint32_t flags;		 /* OPTIONS_* */
	uint32_t format;	 /* enum profile_format */
	uint32_t every;		 /* seconds between the profiles of a stream; 0: one, at the end */
	uint32_t top;		 /* OPTIONS_ACCOUNTS: as in message_options */
	int32_t no_energy;	 /* 0, or why no ZONE comes: a negative errno */
	uint8_t names[NAMES_KINDS]; /* enum names_mode */
	/* OPTIONS_COMM: extended regular expression, NUL padded */
	char comm[OPTIONS_COMM_BYTES];
	char host[CONFIG_HOST_BYTES]; /* name of this machine, NUL padded; "": not to be told */
};

enum descriptor_kind {
	DESCRIPTOR_RINGS = 1,	   /* mmapable array: cpus * ring_bytes */
	DESCRIPTOR_TAILS,	   /* mmapable array: struct ring_tails */
	DESCRIPTOR_PROCESSES,	   /* mmapable array: struct process_table */
	DESCRIPTOR_EVENTS,	   /* BPF ring buffer of struct event */
	DESCRIPTOR_SEGMENT,	   /* index = segment number */
	DESCRIPTOR_SIDEBAND,	   /* index = CPU; perf event fd that can sample nothing */
	DESCRIPTOR_KERNEL_SYMBOLS, /* sealed memfd, see base/ksyms_file.h */
	DESCRIPTOR_BROKER,	   /* socket */
	DESCRIPTOR_EXPORTER,	   /* socket */
	DESCRIPTOR_DEBUG_FILES,	   /* socket */
	DESCRIPTOR_SPILL,	   /* file without a name: what the profile holds beyond memory */
	DESCRIPTOR_RESOURCE,	   /* sealed memfd: struct resource_words of ipc/destination.h */
	DESCRIPTOR_ACCOUNTS,	   /* mmapable array of struct account, which BPF alone writes */
	DESCRIPTOR_ACCOUNT_CPUS,   /* the same of struct account_cpu: one for each CPU */
	DESCRIPTOR_ZONE,	   /* index = file of an energy zone, see ipc/zones.h */
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

struct message_debug_file {
	char path[512]; /* below a folder of debug files, NUL padded; its end is ".debug" */
};

#define LINES_ID_MAX 64 /* bytes of a build id */
struct message_lines_object {
	uint32_t id_size; /* 1..LINES_ID_MAX */
	unsigned char id[LINES_ID_MAX];
	char path[700]; /* of the object, NUL padded; "": none */
};

struct message_lines {
	uint32_t count;	       /* of addresses: uint64_t, ascending */
	uint32_t milliseconds; /* time for reading */
};

/* The use of CPU time by the processes that were chosen, for base/waited.h. */
struct message_waited {
	uint64_t used;	  /* ns of CPU time */
	uint64_t wall;	  /* ns of the recording; 0: no processes were chosen, or events count */
	uint64_t threads; /* that were alive at some time; 0: not known */
};

struct message_stop {
	uint64_t started, stopped;
	struct message_waited waited;
};

#define SUMMARY_REASONS 26
#define SUMMARY_LIMITS	32
#define SUMMARY_OBJECTS 3
struct summary_object {
	uint64_t samples;
	int32_t reason; /* negative errno; -ENOENT: the object has no unwind information */
	char name[44];	/* without folders, NUL padded */
};

#define SUMMARY_RUNTIMES 3
struct summary_runtime {
	uint64_t samples; /* 0: none */
	uint32_t runtime; /* enum runtime of base/runtimes.h */
	char name[28];	  /* of the object, without folders, NUL padded */
};

/* OPTIONS_OFF_CPU: threads off their CPU, as worker/sample/waits.h counts them; else all 0. */
struct summary_off_cpu {
	uint64_t waits, ns, error, open, shorter;
	uint64_t least_probability; /* OFF_PROBABILITY of bpf/abi.h; 0: no wait */
};

struct message_summary {
	uint64_t without_names;		  /* the innermost frame has no symbol's name */
	uint64_t discarded;		  /* records that were not well-formed */
	uint64_t unkept;		  /* records for which memory was missing */
	uint64_t filtered;		  /* samples that OPTIONS_COMM leaves out by their names */
	uint64_t reason[SUMMARY_REASONS]; /* by enum sample_reason of bpf/abi.h */
	uint64_t limit[SUMMARY_LIMITS];	  /* by enum summary_limit of base/limits.h */
	struct summary_off_cpu off_cpu;
	struct summary_runtime runtime[SUMMARY_RUNTIMES]; /* most samples first */
	/* without rules, where stacks were cut; most samples first, samples 0: none */
	struct summary_object object[SUMMARY_OBJECTS];
};

/* Comes with the map of struct counters (bpf/abi.h), which the exporter can only read. */
struct message_counters {
	uint64_t begun;		      /* when the agent was started */
	uint64_t cpus;		      /* entries of the map */
	char host[CONFIG_HOST_BYTES]; /* as in message_config */
};

/* Numbers of the loader's, for the exporter. */
struct message_status {
#define S(name, help) uint64_t name;
#include "ipc/status.def"
#undef S
};

enum work_request {
#define Q(name, request) WORK_##name,
#include "ipc/requests.def"
#undef Q
	WORK_REQUESTS
};

enum work_refusal {
#define R(name, help) REFUSAL_##name,
#include "ipc/refusals.def"
#undef R
	REFUSALS
};

/* Numbers of the worker's, for the exporter. A worker counts from its start on. */
struct message_work {
#define W(kind, name, help) uint64_t name;
#include "ipc/work.def"
#undef W
	uint64_t limit[SUMMARY_LIMITS];	  /* as in message_summary */
	uint64_t requests[WORK_REQUESTS]; /* to the broker */
	uint64_t refusals[REFUSALS];	  /* answers of the broker */
};

enum account_row {
	ACCOUNT_PROCESS,
	ACCOUNT_CGROUP,
	ACCOUNT_CONTAINER,
	ACCOUNT_ROWS
};

/* bpf/abi.h has the same numbers: ACCOUNT_COUNTERS, ACCOUNT_SOFTIRQS, ACCOUNT_HARDIRQS. */
#define ACCOUNTS_COUNTERS 6
#define ACCOUNTS_SOFTIRQS 10
#define ACCOUNTS_HARDIRQS 64

struct account_values {
#define A(name, help) uint64_t name;
#include "ipc/account.def"
#undef A
	uint64_t counter[ACCOUNTS_COUNTERS]; /* in the order of bpf/account_counters.def */
};

/*
 * The amounts that a row has used since the accounts began. A row without a pid, a path or an id is
 * of all that had no row of their own when they used it.
 */
#define ACCOUNT_NAME_BYTES  32
#define ACCOUNT_GROUP_BYTES 400
struct message_account {
	uint64_t id;	/* start of a process, or id of a cgroup: another one counts from 0 on */
	uint64_t epoch; /* of the worker, as in message_config */
	uint32_t kind;	/* enum account_row */
	uint32_t pid;	/* of a process, else 0 */
	struct account_values values;
	char name[ACCOUNT_NAME_BYTES];	 /* of a process, NUL padded */
	char group[ACCOUNT_GROUP_BYTES]; /* path of a cgroup, else id of a container, NUL padded */
};

/* Time of interrupts of devices, ns by number; the last place is for all others. */
struct message_interrupts {
	uint64_t ns[ACCOUNTS_HARDIRQS];
};

/* Sums over all CPUs since the accounts began. */
struct message_account_sums {
#define S(kind, name, help) uint64_t name;
#include "ipc/account_sums.def"
#undef S
	uint64_t counters;		     /* bit of each counter that all CPUs have */
	struct account_values threads;	     /* of all processes */
	uint64_t counter[ACCOUNTS_COUNTERS]; /* of all CPUs, idle ones included */
	uint64_t softirq_ns[ACCOUNTS_SOFTIRQS], softirqs[ACCOUNTS_SOFTIRQS];
};

enum counts_descriptor {
	COUNTS_COUNTERS, /* map of struct counters (bpf/abi.h) */
	COUNTS_BEFORE,	 /* CPU time */
	COUNTS_AFTER,
	COUNTS_DENIED, /* map of denied samples by rule */
	COUNTS_RULES,  /* file of struct policy_rule; not there without rules */
	COUNTS_DESCRIPTORS
};
struct message_counts {
	struct message_sampling sampling;
	uint32_t cpus;	  /* entries of the map */
	uint32_t cgroup;  /* 1: CPU time is the text of a cgroup's cpu.stat; 0: task_runtime */
	uint32_t rules;	  /* in COUNTS_RULES; 0: there is none */
	uint32_t off_cpu; /* enum off_mode (bpf/abi.h) */
};

enum output_step {
	STEP_BEGIN = 1, /* before the first sample */
	STEP_WORKER,	/* after the last sample of a worker, before the first of the next one */
	STEP_END,	/* after the last sample; some may still wait for their records */
	STEP_COMMIT,	/* the file is complete, and NAMED came */
};
#define STEP_QUIET (1u << 31) /* prints nothing about a recording without samples */
struct message_step {
	uint32_t step;	/* enum output_step */
	uint32_t flags; /* OPTIONS_* above, STEP_QUIET */
	uint32_t every; /* STEP_BEGIN: as in message_config */
	uint32_t bytes; /* STEP_COMMIT: message_written.bytes */
};

struct message_stepped {
	int32_t error;		      /* 0 or a negative errno */
	uint32_t step;		      /* enum output_step */
	struct message_waited waited; /* from STEP_END on; all 0 before */
};

#define MESSAGE_ERRNO_MAX 4095 /* of a payload's error; MAX_ERRNO of include/linux/err.h */

#define BROKER_SECONDS 2 /* for an answer of the penal broker: then the worker sends BROKER_STUCK */

/* index of DESCRIPTOR with the kind BROKER */
enum broker_lane {
	LANE_ORDINARY,
	LANE_PENAL, /* for groups of processes that hung a broker */
	LANES,
	LANE_DEMOTING = LANES, /* ordinary, and the one before becomes the penal one */
};

struct message_stuck {
	uint32_t lane;	  /* enum broker_lane below LANES: whose broker hangs or is missing */
	uint32_t brokers; /* that the worker had been given by then */
};

struct message_segments {
	uint32_t index;	   /* of the worker's next segment; SEGMENT_MAX: there are no more */
	uint32_t requests; /* that the broker may answer at once, up to a limit of its own */
};

struct message_maps {
	uint32_t pid;
	uint32_t thread; /* of the process: its main thread may have exited */
};

struct message_reply {
	int32_t error; /* 0 or a negative errno */
};

#define OBJECT_WANT_FD 1u
struct message_object {
	uint64_t start, end; /* of the mapping, as the kernel lists it */
	uint32_t pid, thread;
	uint64_t flags; /* OBJECT_WANT_FD: open the inode too; else identify it only */
};
struct message_object_reply {
	int32_t error;		     /* 0 or a negative errno */
	uint32_t change_nanoseconds; /* realtime, with change_seconds */
	uint64_t device;	     /* makedev(stx_dev_major, stx_dev_minor) */
	uint64_t inode, size, change_seconds;
};

/* The claim that a process runs code of a language's runtime, so that its memory may be read. */
struct message_grant {
	uint64_t generation; /* of the process, as BPF told */
	uint64_t start, end; /* of the runtime's mapping, as the kernel lists it */
	uint32_t pid, thread;
};

#define GRANT_NAME_BYTES 32
#define GRANT_RULES_MAX	 288u
/* A rule of the policy about memory that may be read. */
struct message_grant_rule {
	uint64_t key[3]; /* struct deny_key of bpf/abi.h: whose memory is not read */
	/* or, unless empty: a name as of policy/grants.def, NUL padded; then the key is nothing */
	char name[GRANT_NAME_BYTES];
};

/* key[0] of a rule that is no deny rule: no process's file of names of code is opened. */
#define GRANT_RULE_NO_CODE_FILES UINT64_MAX
/* The same for the process context, and for a variable of the environment that `name` names. */
#define GRANT_RULE_NO_CONTEXTS (UINT64_MAX - 1)
#define GRANT_RULE_VARIABLE    (UINT64_MAX - 2)
#define GRANT_VARIABLES_MAX    16u /* that a policy names */

/*
 * Asks for the file in which a process names the code that it makes at run time. Start and end 0
 * stand for /tmp/perf-PID.map, other bounds for a mapped jit-PID.dump.
 */
struct message_code_file {
	uint64_t generation; /* of the process, as BPF told */
	uint64_t start, end; /* as the kernel lists the mapping */
	uint32_t pid, thread;
};

/*
 * Asks what a process says of itself: the payload of the OpenTelemetry process context (OTEP 4719)
 * whose mapping has the bounds. Bounds 0 ask for the variables of the environment that the policy
 * names, each as "NAME=value" and a NUL. The descriptor is a pipe that holds the bytes.
 */
#define CONTEXT_BYTES_MAX 65536u /* as a pipe holds (pipe(7)) */
struct message_context {
	uint64_t generation; /* of the process, as BPF told */
	uint64_t start, end; /* as the kernel lists the mapping */
	uint32_t pid, thread;
};

struct message_segment {
	uint32_t index; /* SEGMENT: the next free segment; SEGMENT_GIVEN: the one that is given */
};

struct message_audit {
	struct message_object_reply answer; /* known fields are set, also with an error */
	uint32_t pid;			    /* 0: a segment */
	uint16_t request;		    /* enum message_type: a request of the worker */
	uint16_t granted;		    /* 1: a descriptor was given, or memory may be read */
};

enum audit_event {
#define A(id, name, types, names) AUDIT_##name = id,
#include "ipc/audit.def"
#undef A
};

/* Why a child was killed: value[0] of AUDIT_kill. */
enum audit_kill {
	KILL_HANGS, /* the broker gave no valid answer */
	KILL_DRAFT  /* the worker has not finished the profile, and a draft is written */
};

struct message_audit_event {
	uint32_t event;	   /* enum audit_event */
	uint32_t party;	   /* enum message_party: the process that the event is about */
	uint64_t value[2]; /* helper/audit/event.c says what they are */
};

struct message_output {
	uint32_t phase; /* enum message_phase: the first one of the channel to the worker */
};
struct message_profile {
	uint64_t bytes; /* size of the sealed memfd */
};
struct message_written {
	int32_t error;	/* 0 or a negative errno */
	uint32_t bytes; /* written; UINT32_MAX, in a stream: so many or more */
};

/* Comes with the child's pidfd, because the child has another pid in its own namespace. */
struct message_spawned {
	int32_t error;	  /* 0 or a negative errno */
	uint32_t lacking; /* layers that are not available: policy_fork(), policy_isolate() */
	uint32_t proven;  /* layers whose test showed that they hold */
};
struct message_exited {
	int32_t status; /* as from waitpid() */
};

struct message_ranges {
	int32_t error;	/* 0 or a negative errno */
	uint32_t count; /* of struct kernel_range: the kernel, then modules by address */
};

/* A text at argv[index] + offset. index 0: no text was given. */
struct message_text {
	uint32_t index, offset;
};

#define OPTIONS_RECORD	      (-1)
#define OPTIONS_CHECK	      (-2) /* as OPTIONS_RECORD; the policy is read, and that is all */
#define OPTIONS_PIDS_MAX      64
#define OPTIONS_PID_MAX	      (1u << 22)
#define OPTIONS_FREQUENCY_MAX 10000u
#define OPTIONS_DURATION_MAX  100000000000000000ull
#define OPTIONS_NAME_BYTES    48
#define OPTIONS_OFF_CPU_MAX   1000000000000ull /* ns */
#define OPTIONS_FILTER_WORDS  10
#define OPTIONS_SPOOL_MIN     64u	 /* KiB */
#define OPTIONS_SPOOL_MAX     (1u << 30) /* KiB */

#define CHANCE_INTERVAL_MAX 86400u
/* An agent draws for each interval whether it samples. */
struct message_chance {
	uint32_t threshold; /* percent of the intervals, 1 to 99; 0: there is no draw */
	uint32_t interval;  /* seconds, 1 to CHANCE_INTERVAL_MAX; without a threshold, any */
};

/* The options of `keyhole record`. At most one of pids, cgroup and command is given. */
struct message_options {
	uint64_t duration; /* ns, 0: until stopped */
	struct message_sampling sampling;
	struct message_chance chance;	       /* OPTIONS_AGENT */
	uint64_t off_cpu_min;		       /* as in message_config */
	uint64_t filter[OPTIONS_FILTER_WORDS]; /* struct sample_filter of bpf/abi.h */
	int32_t status;	  /* OPTIONS_RECORD, OPTIONS_CHECK; else an exit status, and nothing more */
	uint32_t flags;	  /* OPTIONS_* above */
	uint32_t level;	  /* enum log_level, of the loader itself */
	uint32_t format;  /* enum profile_format */
	uint32_t require; /* bits of policy/layers.def */
	uint32_t command; /* index of the command in argv, behind `--`; 0: none */
	struct message_text cgroup, output, audit, policy, debug_dirs, comm;
	uint32_t every; /* seconds between the profiles of a stream; 0: one, at the end */
	uint32_t top; /* rows of each kind of the accounts, 1 to ACCOUNTS_TOP_MAX; 0: no accounts */
	uint32_t fill;	/* 0 */
	uint32_t spool; /* KiB of windows that wait on disk for a server; 0: none do */
	uint32_t pid_count, excluded_count; /* together at most OPTIONS_PIDS_MAX */
	uint32_t pids[OPTIONS_PIDS_MAX];    /* to sample */
	uint32_t excluded_pids[OPTIONS_PIDS_MAX];
	char name[OPTIONS_NAME_BYTES]; /* of the output when none was given, NUL padded */
};

/* Files that the loader opens for keyhole-options, which may not read them itself. */
enum wanted_file {
	FILE_CONFIG,	  /* for keyhole-options itself */
	FILE_AUTHORITIES, /* PEM, for the exporter, as the next two */
	FILE_CERTIFICATE,
	FILE_KEY,
	WANTED_FILES
};
#define WANTED_PATH_BYTES 508
struct message_wanted_file {
	uint32_t file;		      /* enum wanted_file */
	char path[WANTED_PATH_BYTES]; /* NUL terminated */
};

/* Comes with a file of a structure of ipc/destination.h, which no longer changes. */
enum destination_part {
	DESTINATION_ENDPOINT, /* struct endpoint, for the exporter */
	DESTINATION_ADDRESS,  /* struct address, for keyhole-connector */
	DESTINATION_LISTENER, /* struct listener, for keyhole-output */
	DESTINATION_RESOURCE, /* struct resource_words, for the worker; may be missing */
	DESTINATION_PARTS
};
struct message_destination {
	uint32_t part; /* enum destination_part */
};

struct message_keeper {
	uint32_t format; /* enum profile_format, of the windows */
	uint32_t spool;	 /* KiB of all windows that wait for a server; 0: each keeps its file */
};

/* A window for the disk. The exporter chooses the id; a later window has a larger one. */
struct message_spool {
	uint64_t id, bytes;
	uint64_t events;   /* that the window has */
	uint64_t checksum; /* of the bytes, as in ipc/spool.h */
};

struct message_spooled {
	int32_t error;	 /* 0 or a negative errno */
	uint32_t pushed; /* windows that had to go since the last answer: no room, or old */
	uint64_t events; /* that those had */
	uint64_t id;	 /* UNSPOOLED: of the file */
};

struct message_forget {
	uint64_t id;
};

struct message_credential {
	uint32_t file; /* enum wanted_file from FILE_AUTHORITIES on */
};

/* The first argument of keyhole-output, unless that is "--". */
#define OUTPUT_VERB_WRITE   "write"   /* a new file */
#define OUTPUT_VERB_REPLACE "replace" /* also in place of a file */
#define OUTPUT_VERB_STREAM  "stream"  /* profiles one after another: no file */
#define OUTPUT_VERB_DELIVER "deliver" /* nothing is written here */
#define OUTPUT_VERB_ROTATE  "rotate"  /* FILE is a folder: a file for each profile of a stream */
#define OUTPUT_VERB_SPOOL   "spool"   /* FILE is a folder: of profiles that wait for a server */

/* The first argument of keyhole-rules. */
#define RULES_VERB_RECORD "record"
#define RULES_VERB_COMM	  "record --comm" /* refuses rules that hide names */
#define RULES_VERB_CHECK  "check-config"  /* prints the rules */

#define POLICY_PATH_BYTES 480
struct message_policy_path {
	char path[POLICY_PATH_BYTES]; /* NUL terminated */
};

/* A deny rule, as a row of the file that comes with POLICY_KEYS. The n-th row is the rule n. */
#define POLICY_RULE_BYTES (POLICY_PATH_BYTES + 16)
struct policy_rule {
	uint64_t key[3];	      /* struct deny_key of bpf/abi.h */
	char text[POLICY_RULE_BYTES]; /* as in the policy file; printable ASCII, NUL padded */
};

/* Comes with a file of struct policy_rule, to be read from its current position. */
struct message_policy_keys {
	int32_t error;		    /* -EINVAL: the helper has printed the reason */
	uint32_t kinds;		    /* DENY_BIT() of each kind that has a key */
	uint32_t frequency_max;	    /* Hz, or 0 */
	uint32_t no_go_stacks;	    /* flag: BPF reads no stack pointer in Go's structures */
	uint8_t names[NAMES_KINDS]; /* enum names_mode */
	char hash[68];		    /* of the policy: SHA-256 in hex, NUL padded */
};

#define MESSAGE_PAYLOAD_MAX 1024u

/* One row of the table, for checks and tests. */
struct message_rule {
	const char *name;
	uint8_t from, to;    /* enum message_party */
	uint8_t first, last; /* enum message_phase */
	uint16_t payload;    /* exact size */
	uint8_t fds;	     /* 0, 1, FDS_REPLY or FDS_MAYBE */
	uint8_t once;
	uint8_t error;	/* 1: the payload begins with an error: 0 or a negative errno */
	uint16_t reply; /* enum message_type of the answer; MESSAGE_NONE: no answer */
};
#define FDS_REPLY 2
#define FDS_MAYBE 3

/* Returns the rule of a type; NULL: there is no such type. */
const struct message_rule *message_rule(unsigned int type);
/* Returns whether the type is the `reply` of some row. */
bool message_is_reply(unsigned int type);

/* Returns the name of the party's program: "keyhole", "keyhole-worker", ... */
const char *message_party_name(enum message_party party);

#define M(name, from, to, first, last, payload, fds, times, reply)            \
	_Static_assert(sizeof(struct payload) % 4 == 0 &&                     \
			       sizeof(struct payload) <= MESSAGE_PAYLOAD_MAX, \
		       #name " has a fixed, aligned size");
#include "ipc/messages.def"
#undef M

#endif
