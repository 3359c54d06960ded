/* SPDX-License-Identifier: Apache-2.0 */
/* A session with made-up memory, clock and target: the cmocka state of each RIG_TEST(). */
#ifndef KEYHOLE_TESTS_UNIT_SESSION_RIG_H
#define KEYHOLE_TESTS_UNIT_SESSION_RIG_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"
#include "tests/unit/build_sideband.h"
#include "tests/unit/fake_target.h"
#include "object/elf/image.h"
#include "worker/session.h"

struct rig {
	struct fake_target fake;
	struct build_sideband build;
	struct session_parts parts;
	struct session *session;
	struct parser *parser;
	struct segment *segment; /* the first one */
	struct process_table *slots;
	unsigned char *rings;
	struct ring_tails tails;
	uint64_t head;
	uint64_t consumer;
	unsigned char *producer;
	uint64_t now;
	uint64_t cgroup; /* of events */
	uint64_t tick;	 /* the time between two looks at the clock */
};

#define RIG_TEST(test) cmocka_unit_test_setup_teardown(test, rig_setup, rig_teardown)
/* How the policy treats names: a const uint32_t for redact_init(). */
#define RIG_TEST_NAMES(test, names) \
	cmocka_unit_test_prestate_setup_teardown(test, rig_setup, rig_teardown, (void *)(names))
/* The next session takes these. NULL: nobody has debug files. */
extern struct debug_peer *rig_debug_files;
int rig_setup(void **state); /* a struct rig */
int rig_teardown(void **state);
/* Starts another session on the same memory, with the present configuration. */
void rig_restart(struct rig *rig, uint64_t epoch);

/* Adds a process that was there before, with these mappings of one file (on device 08:01). */
void rig_seen(struct rig *rig, uint32_t pid, uint64_t generation, const char *maps,
	      const char *object);

/*
 * Adds process 5 of generation 100, which maps the test's own text as "/opt/test (deleted)".
 * Returns the address of a function of the test in that process.
 */
#define RIG_OWN_PLACE 0x40000000ull
uint64_t rig_seen_own(struct rig *rig, void (*function)(void), struct image_segment *ret_text);
uint64_t rig_own_address(void (*function)(void)); /* in its file */

void rig_event(struct rig *rig, uint32_t kind, uint32_t pid, uint64_t generation, uint32_t parent,
	       uint64_t parent_generation);
/* Begins an event that a CPU has not finished, and ends it. */
uint32_t *rig_unfinished(struct rig *rig);
void rig_finish(uint32_t *unfinished);
/* Adds BPF's event about a name: id and text. */
void rig_name(struct rig *rig, uint32_t id, const char *text);
/* Adds BPF's event about a cgroup: id, and the name of its only level. */
void rig_cgroup(struct rig *rig, uint64_t id, const char *name);
/* Returns the record. The caller may change it before the next turn. */
struct record *rig_sample(struct rig *rig, uint32_t pid, uint64_t generation, uint32_t reason,
			  const u64 *frames, uint16_t kernel, uint16_t user);
/* The same with words of a runtime behind the user frames. */
/* The words of a context are behind those of a list; flags: RECORD_FLAG_* */
struct record *rig_sample_context(struct rig *rig, uint32_t pid, uint64_t generation,
				  const u64 *frames, uint16_t user, uint16_t words, uint8_t flags);
struct record *rig_sample_scripts(struct rig *rig, uint32_t pid, uint64_t generation,
				  const u64 *frames, uint16_t user, uint16_t words);
/* The thread 5 of process 5 leaves its CPU, with one frame, and runs again. Both return when. */
uint64_t rig_leaves(struct rig *rig, uint64_t generation, u64 frame);
uint64_t rig_runs_again(struct rig *rig, uint64_t left);
/* Adds BPF's event about code. The time becomes that of the rig. */
void rig_code(struct rig *rig, struct event_code *code);
/* Makes a turn, 10 ms later. */
void rig_turn(struct rig *rig);
/* Turns, answers and parses until no work is left. */
void rig_settle(struct rig *rig);
/* Returns the mapping that BPF would find. NULL: the process is not ready, or does not exist. */
const struct mapping_entry *rig_find(const struct rig *rig, uint32_t pid, uint64_t generation,
				     uint64_t address);
uint64_t rig_version(const struct rig *rig, uint32_t pid, uint64_t generation);
/* Returns the profile's stacks: names of functions from the leaf on, with ";" between (free()). */
char *rig_stack(const struct rig *rig, size_t sample);
void rig_check_stack(const struct rig *rig, size_t sample, const char *wanted);

#endif
