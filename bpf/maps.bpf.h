/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps of the sampler, with writers, readers and the life of an entry. See bpf/README.md. */
#ifndef KEYHOLE_BPF_MAPS_BPF_H
#define KEYHOLE_BPF_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "bpf/abi.h"
#include "bpf/shared_maps.bpf.h"
#include "bpf/walk/cache.bpf.h"
#include "bpf/walk/walk.bpf.h"

/* ---- mapped by the worker ---- */

/* Sample records. BPF writes, and never reads back. The loader sets value size and entries. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, RING_BYTES_MIN);
} rings SEC(".maps");

/*
 * The worker writes: a wrong value only makes the worker lose or overwrite its own records. The
 * tails are followed by the worker's note to the next worker.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ring_tails);
} tails SEC(".maps");

/* The worker writes, untrusted: BPF masks every index from here. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct process_table);
} processes SEC(".maps");

/* Unwind tables and mapping blocks, untrusted like the process table. The broker adds segments. */
struct segment_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, SEGMENT_BYTES);
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, SEGMENT_MAX);
	__uint(key_size, sizeof(u32));
	__array(values, struct segment_map);
} segments SEC(".maps");

/* ---- private: no process has them mapped ---- */

/*
 * Families of processes (struct generation) in which BPF may walk the frames of a runtime. The
 * broker adds and removes entries; BPF changes their accounts.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GRANTS_MAX);
	__type(key, u64);
	__type(value, struct grant);
} grants SEC(".maps");

/* Code of runtimes that the worker was told of: a mark of it, where the mark's hash says. */
#define TOLD_CODE_BITS 14
#define TOLD_NEAR      32u /* marks that a CPU keeps at hand */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << TOLD_CODE_BITS);
	__type(key, u32);
	__type(value, u64);
} told_code SEC(".maps");

/* Denied samples by the number of the rule; [0]: for another reason. The loader freezes the map. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, DENY_KEYS_MAX + 1);
	__type(key, u32);
	__type(value, u64);
} denied_samples SEC(".maps");

/*
 * [0] kernel text, then the modules by address. [KERNEL_RANGES_MAX]: the scheduler's text, with the
 * functions that wait (__sched); empty: not known. The loader fills all in.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KERNEL_RANGES_MAX + 1);
	__type(key, u32);
	__type(value, struct kernel_range);
} kernel_ranges SEC(".maps");

/*
 * For the walk of the kernel's stack (orc.bpf.h), in one map, as each makes the start longer. [0]:
 * where the tables are; the loader fills it in. Then lines with the rules of recent addresses, as
 * in a rule_cache. Then the row at the start of each 16 KiB of text, and 1; 0: not sought yet.
 */
#define ORC_LINES      256u
#define ORC_BLOCK_BITS 14
#define ORC_BLOCKS     2048u
#define ORC_NOTES      16u
#define ORC_NOTES_AT   (1 + ORC_LINES)
union orc_place {
	struct kernel_orc tables;
	struct cache_line line;
	u32 note[ORC_NOTES];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ORC_NOTES_AT + ORC_BLOCKS / ORC_NOTES);
	__type(key, u32);
	__type(value, union orc_place);
} orc_places SEC(".maps");

/* The walk of the kernel's stack (orc.bpf.h). */
struct orc_walk {
	u64 ip, sp, bp;
	u64 stack;  /* lowest address of the task's stack */
	u64 signal; /* flag: ip is of an instruction, and no return address */
	u64 frames; /* that are stored */
};

/* Names that the worker knows, by address; see late.bpf.h. */
#define LATE_BITS 10
struct late_name {
	u64 known; /* id in the upper half, late_stamp() in the lower */
	u64 check; /* late_check() of the address and `known` */
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << LATE_BITS);
	__type(key, u32);
	__type(value, struct late_name);
} late_names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct rule_cache);
} rule_caches SEC(".maps");

/* A sample before the walk of its user stack. */
struct sample {
	/* The head of its record. REASON_COUNT: the walk is to find the reason. */
	struct record record;
	u64 family, base_number, born; /* as in struct generation */
	u64 base_pid;
	u64 epoch;			      /* of the worker for which the sample was kept */
	u64 regs[24];			      /* struct pt_regs of user mode */
	struct stack_copy copy[STACK_COPIES]; /* as in struct walk */
	u64 code_start, code_end;	      /* of the program, as the kernel has it */
	u64 off;	   /* OFF_WORD of a thread that leaves its CPU; 0: none */
	struct walk_go go; /* of a kept sample */
	u64 kernel[RECORD_KERNEL_FRAMES_MAX + 1];
};

/*
 * A sample of a process whose mappings are not published yet, with the stack. A CPU takes its own
 * places alone. The CPU that takes a place from the queue has it. That CPU finishes the sample and
 * wipes the place, or puts the place back.
 */
#define KEPT_STACK_BYTES 16384u
#define KEPT_CALLS_BITS	 8
#define KEPT_CALLS	 (1u << KEPT_CALLS_BITS)
struct kept {
	u64 taken; /* flag */
	struct sample sample;
	u64 call[KEPT_CALLS]; /* words of the stack that were behind a call; 0: a free place */
	u64 stack[KEPT_STACK_BYTES / 8];
};
/* The loader closes its descriptor after the load: BPF alone reaches the map. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KEPT_SLOTS_MIN);
	__type(key, u32);
	__type(value, struct kept);
} kept SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, KEPT_SLOTS_MIN);
	__uint(value_size, sizeof(u32));
} kept_queue SEC(".maps");

/* The state of one sample, and the values that a CPU keeps between samples. */
struct scratch {
	u64 head;	    /* position of the next record in this CPU's ring */
	u64 began;	    /* CLOCK_MONOTONIC, ns: of the interrupt */
	u64 generations[3]; /* how many this CPU has given, by enum giver */
	u64 busy;
	u64 late; /* ns from the interrupt to the walk under way, or 0 */
	u64 due;  /* CLOCK_MONOTONIC, ns: the next sample's time, at one per sample_interval_ns */
	u32 cpu;
	u32 range;	  /* of the last kernel frame, where the next one is sought first */
	u32 epoch;	  /* to which head belongs */
	u32 waited_for;	  /* flag: the sample cannot wait for the worker's next look */
	u32 unkept;	  /* of the generation of the sample under way */
	u32 kept;	  /* the place of a kept sample under way and 1, or 0 */
	u32 kept_next;	  /* the CPU's place that is tried next */
	u64 woke;	  /* CLOCK_MONOTONIC, ns: the last time that a sample woke the worker */
	u64 deep;	  /* generation of a process whose interpreter had a deep recursion */
	u64 deep_address; /* of this interpreter's code */
	u32 deep_runtime; /* where its config is */
	u32 deep_left;	  /* further samples that take its list first */
	u64 drained;	  /* position up to which the worker had read, at the last look */
	struct sample sample;
	struct walk walk;
	u64 told[TOLD_NEAR]; /* marks that told_code had, at places made from the mark */
	u64 names_until;     /* CLOCK_MONOTONIC, ns: end of the time for names in this sample */
	union {		     /* the walk ends before names are sought */
		u64 name[EVENT_NAME_WORDS];
		struct orc_walk orc;
	};
};
#define PER_CPU_BYTES 32768 /* PCPU_MIN_UNIT_SIZE of linux/percpu.h: the most of a CPU's value */
_Static_assert(sizeof(struct scratch) <= PER_CPU_BYTES, "struct scratch");
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/*
 * CPU time, in ns. A task that ends is counted at its exit, and the rest when the kernel frees it.
 */
struct runtimes {
	struct task_runtime reading; /* of the iterator, under way */
	u64 readings;		     /* the number of the last reading */
	/*
	 * Tasks that have gone since the last reading began, at [readings & 1], and between this
	 * beginning and the one before. An exit looks at `readings` once, so that its sum and its
	 * struct ended_task agree.
	 */
	u64 exited[2];
	u64 earlier; /* tasks that had gone before */
	u64 exits;   /* the number of tasks that are gone */
	u64 found;   /* the number of processes that EVENT_FOUND told */
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct runtimes);
} runtimes SEC(".maps");

/*
 * The part of an ended task's CPU time that is in struct runtimes already. A task has
 * a place, made from its address, from its exit until the kernel frees it. A task that takes the
 * place of another makes the other lose the CPU time that it used after its exit. No lock is taken:
 * `check` also tells an entry that two CPUs wrote at once.
 */
struct ended_task {
	u64 nanoseconds;
	u64 readings; /* as it was at the exit */
	u64 check;    /* ended_check(); 0: a free place */
};
#define ENDED_BITS 13
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << ENDED_BITS);
	__type(key, u32);
	__type(value, struct ended_task);
} ended_tasks SEC(".maps");

#endif
