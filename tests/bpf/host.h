/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A made-up machine for the walker's pure headers: memory regions, segments, a clock. A read
 * outside a region fails and zeroes its target, as the kernel's reads do.
 */
#ifndef KEYHOLE_TESTS_BPF_HOST_H
#define KEYHOLE_TESTS_BPF_HOST_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define WALK_NAMES_WASM
#include "bpf/abi.h"
#include "bpf/walk/cache.bpf.h"
#include "bpf/walk/walk.bpf.h"
#include "tests/bpf/build_process.h"

#ifndef HOST_REGIONS
#define HOST_REGIONS 64u
#endif
#define HOST_UNUSED __attribute__((unused))

struct host_region {
	u64 start, bytes;
	const void *data;
};

struct host {
	struct walk walk;
	struct rule_cache cache;
	struct build build;
	struct host_region region[HOST_REGIONS];
	u64 clock, clock_step;		  /* the clock moves at each look, */
	u64 read_ns;			  /* and at each read */
	u64 reads, reads_before;	  /* all, and those up to the last look */
	u64 reads_apart;		  /* the most between two looks */
	u64 executable, executable_end;	  /* what the kernel says is */
	bool (*executable_at)(u64);	  /* the same, in place of that range */
	int (*read_at)(void *, u64, u64); /* in place of the regions: 0, or -errno */
	bool cold;			  /* nothing is ever found in a cache */
	u64 called;			  /* the only address of a copy that is behind a call */
	u64 frame[RECORD_FRAMES_MAX];
	u64 word[RECORD_RUNTIME_WORDS_MAX]; /* of a runtime's frames */
	u64 thread;			    /* pointer */
	u64 list_time;			    /* ns: walk_list_time() */
	bool may_list;			    /* walk_may_list() */
	bool no_switches;		    /* walk_may_switch() */
	u64 leaf[RUNTIME_SCAN_WORDS];	    /* registers */
	u64 leaf_stack;			    /* its stack pointer */
	u64 told;			    /* the last code */
	u32 told_print;			    /* its fingerprint */
	u64 told_name;			    /* of it */
	u32 told_call, told_in;		    /* its caller's instruction and frame */
	u64 told_inlined;		    /* code that walk_tell_inlined() got */
	u64 told_before;		    /* code that walk_told() knows */
	u64 missed;			    /* the last word of the last read that failed */
	void (*tell)(u64 code);		    /* told of code; NULL: nobody */
	int (*knows)(u64 code, u32 print);  /* walk_told(); NULL: told_before */
	int (*tell_inlined)(u64 code, u32 print);
};

static struct host host;

#define INLINE static inline __attribute__((always_inline, unused))
#define GLOBAL static __attribute__((noinline, unused))

INLINE u64 host_bound(u64 x, u64 n)
{
	return x < n ? x : 0;
}
#define BOUND(x, n) host_bound(x, n)

INLINE u64 host_hide(struct walk *walk, u64 x)
{
	*(volatile u64 *)&walk->hide = x;
	return *(volatile u64 *)&walk->hide;
}
#define HIDE(walk, x) host_hide(walk, x)

INLINE struct walk *walk_state(void)
{
	return &host.walk;
}

INLINE struct segment *walk_segment(u32 word)
{
	u32 number = word >> SEGMENT_WORD_BITS;

	return number < SEGMENT_MAX ? host.build.segment[number] : NULL;
}

INLINE struct rule_cache *walk_cache(void)
{
	if (host.cold)
		memset(&host.cache, 0, sizeof(host.cache));
	return &host.cache;
}

/* Notes how many reads there were since the last look at the clock. */
INLINE void host_count_reads(void)
{
	if (host.reads - host.reads_before > host.reads_apart)
		host.reads_apart = host.reads - host.reads_before;
	host.reads_before = host.reads;
}

INLINE u64 walk_clock(void)
{
	host_count_reads();
	return host.clock += host.clock_step;
}

/* AddressSanitizer guards bytes of a real stack. */
__attribute__((no_sanitize("address"))) static void host_copy(void *to, const void *from, u64 bytes)
{
	for (u64 i = 0; i < bytes; i++)
		((volatile u8 *)to)[i] = ((const volatile u8 *)from)[i];
}

static HOST_UNUSED int walk_read(void *to, u64 bytes, u64 address)
{
	assert(bytes <= WALK_WINDOW_BYTES);
	host.reads++;
	host.clock += host.read_ns;
	if (host.read_at && host.read_at(to, bytes, address) == 0)
		return 0;
	for (u32 i = 0; i < HOST_REGIONS; i++) {
		const struct host_region *region = &host.region[i];
		u64 at = address - region->start;

		if (address < region->start || at > region->bytes || region->bytes - at < bytes)
			continue;
		host_copy(to, (const u8 *)region->data + at, bytes);
		return 0;
	}
	memset(to, 0, bytes);
	host.missed = address + bytes - 8;
	return 1;
}

/* A copy has the same bytes as the memory. */
static HOST_UNUSED int walk_read_copy(struct walk *walk, void *to, u64 bytes, u64 address)
{
	for (u32 i = 0; i < STACK_COPIES; i++)
		if (stack_copy_holds(&walk->copy[i], bytes, address))
			return walk_read(to, bytes, address);
	return 1;
}

static HOST_UNUSED int walk_copy_calls(u64 address)
{
	return address == host.called;
}

static HOST_UNUSED int walk_executable(u64 address)
{
	if (host.executable_at)
		return host.executable_at(address);
	return host.executable && address >= host.executable && address < host.executable_end;
}

static HOST_UNUSED int walk_emit(struct walk *walk, u64 frame)
{
	assert(walk->frames < RECORD_FRAMES_MAX);
	host.frame[walk->frames] = frame;
	return 0;
}

static HOST_UNUSED int walk_store(struct walk *walk, u32 at, u64 first, u64 second)
{
	(void)walk;
	assert(at + 1 < RECORD_RUNTIME_WORDS_MAX);
	host.word[at] = first;
	host.word[at + 1] = second;
	return 0;
}

static HOST_UNUSED u64 walk_list_time(struct walk *walk)
{
	(void)walk;
	return host.list_time;
}

static HOST_UNUSED int walk_may_list(struct walk *walk)
{
	(void)walk;
	return host.may_list;
}

static HOST_UNUSED u64 walk_thread_pointer(void)
{
	return host.thread;
}

static HOST_UNUSED int walk_may_switch(void)
{
	return !host.no_switches;
}

static HOST_UNUSED u64 walk_leaf_stack(struct walk *walk)
{
	(void)walk;
	return host.leaf_stack;
}

static HOST_UNUSED void walk_leaf(struct walk *walk)
{
	memcpy(walk->window, host.leaf, sizeof(host.leaf));
}

static HOST_UNUSED int walk_told(struct walk *walk, u64 code, u32 fingerprint)
{
	(void)walk;
	if (host.knows)
		return host.knows(code, fingerprint);
	return code == host.told_before;
}

static HOST_UNUSED void walk_tell(struct walk *walk, u64 code, u32 fingerprint)
{
	host.told = code;
	host.told_print = fingerprint;
	host.told_name = walk->list.name;
	host.told_call = walk->list.call;
	host.told_in = walk->list.called_in;
	if (host.tell)
		host.tell(code);
}

static HOST_UNUSED int walk_tell_inlined(struct walk *walk, u64 code, u32 fingerprint)
{
	(void)walk;
	host.told_inlined = code;
	if (host.tell_inlined)
		return host.tell_inlined(code, fingerprint);
	return 1;
}

#include "bpf/walk/step.bpf.h"

/* Steps to the end; returns their number. */
static HOST_UNUSED u32 host_walk(void)
{
	for (u32 i = 0;; i++) {
		assert(i <= RECORD_FRAMES_MAX);
		if (walk_step() && runtime_refuse())
			return i;
		assert(host.walk.reason == WALK_GOES_ON);
	}
}

#endif
