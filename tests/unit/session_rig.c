/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/session_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "ipc/time.h"
#include "worker/process/budget.h"
#include "worker/process/object.h"
#include "worker/process/parser.h"
#include "profile/profile.h"
#include "worker/naming/debug_peer.h"

#define PAGE 4096u
/* A test that waits longer than this hangs. */
#define PARSED_MS 120000

extern const char __ehdr_start;

struct debug_peer *rig_debug_files;
static struct rig *current; /* the clock has no argument */

static uint64_t rig_clock(void)
{
	return current->now += current->tick;
}

static void configure(struct rig *rig)
{
	rig->parts = (struct session_parts){
		.config = {.sampling.frequency = 99,
			   .cpus = 1,
			   .ring_bytes = RING_BYTES_MIN,
			   .sideband_bytes = BUILD_SIDEBAND_BYTES,
			   .segments = 1,
			   .format = FORMAT_folded},
		.rings = rig->rings,
		.tails = &rig->tails,
		.processes = rig->slots,
		.event_consumer = &rig->consumer,
		.event_producer = rig->producer,
		.sidebands = &rig->build.sideband,
		.sideband_count = 1,
		.page = PAGE,
		.descriptors = 100,
		.target = &rig->fake.target,
		.parser = rig->parser,
		.debug_files = rig_debug_files,
		.clock = rig_clock,
	};
}

int rig_setup(void **state)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	const uint8_t *names = *state;

	if (!rig)
		abort();
	current = *state = rig;
	rig->now = 1000 * NS_PER_SECOND;
	rig->cgroup = 4711;
	fake_target_init(&rig->fake);
	build_sideband_init(&rig->build);
	rig->rings = aligned_alloc(PAGE, RING_BYTES_MIN);
	rig->slots = calloc(1, sizeof(*rig->slots));
	rig->producer = calloc(1, PAGE + 2 * EVENT_RING_BYTES);
	rig->segment = fake_segment();
	if (!rig->rings || !rig->slots || !rig->producer ||
	    parser_new(budget_new(), &rig->parser) < 0)
		abort();
	memset(rig->rings, 0, RING_BYTES_MIN);
	configure(rig);
	if (names)
		memcpy(rig->parts.config.names, names, sizeof(rig->parts.config.names));
	if (session_new(&rig->parts, &rig->session) < 0 ||
	    session_attach_segment(rig->session, rig->segment) < 0)
		abort();
	return 0;
}

int rig_teardown(void **state)
{
	struct rig *rig = *state;

	parser_free(rig->parser);
	session_free(rig->session);
	debug_peer_free(rig_debug_files);
	rig_debug_files = NULL;
	build_sideband_release(&rig->build);
	free(rig->rings);
	free(rig->slots);
	free(rig->producer);
	free(rig);
	return 0;
}

void rig_restart(struct rig *rig, uint64_t epoch)
{
	session_free(rig->session);
	rig->segment = fake_segment();
	rig->parts.config.epoch = epoch;
	rig->head = RING_START(epoch);
	rig->fake.count = 0;
	assert_int_equal(session_new(&rig->parts, &rig->session), 0);
	assert_int_equal(session_attach_segment(rig->session, rig->segment), 0);
}

/* Returns the head of the event. */
static uint32_t *put_event(struct rig *rig, const void *event, uint32_t size)
{
	uint64_t *end = (uint64_t *)rig->producer;
	unsigned char *at = rig->producer + PAGE + *end % EVENT_RING_BYTES;

	memcpy(at, &size, sizeof(size));
	memcpy(at + 8, event, size);
	*end += 8 + size;
	return (uint32_t *)at;
}

#define UNFINISHED (1u << 31)

uint32_t *rig_unfinished(struct rig *rig)
{
	const struct event event = {.time = ++rig->now, .kind = EVENT_EXIT, .pid = 999};
	uint32_t *head = put_event(rig, &event, sizeof(event));

	*head |= UNFINISHED;
	return head;
}

void rig_finish(uint32_t *unfinished)
{
	*unfinished &= ~UNFINISHED;
}

void rig_name(struct rig *rig, uint32_t id, const char *text)
{
	struct event_name name = {
		.event = {.time = ++rig->now, .kind = EVENT_NAME, .generation = id}};

	memcpy(name.name, text, strnlen(text, sizeof(name.name)));
	put_event(rig, &name, sizeof(name));
}

void rig_cgroup(struct rig *rig, uint64_t id, const char *name)
{
	struct event_cgroup cgroup = {
		.event = {.time = ++rig->now, .kind = EVENT_CGROUP, .cgroup = id}, .levels = 1};

	memcpy(cgroup.name[0], name, strnlen(name, sizeof(cgroup.name[0])));
	put_event(rig, &cgroup, sizeof(cgroup));
}

void rig_event(struct rig *rig, uint32_t kind, uint32_t pid, uint64_t generation, uint32_t parent,
	       uint64_t parent_generation)
{
	const struct event event = {
		.time = ++rig->now,
		.kind = kind,
		.pid = pid,
		.generation = generation,
		.parent_pid = parent,
		.parent_generation = parent_generation,
		.cgroup = rig->cgroup,
	};

	put_event(rig, &event, sizeof(event));
}

void rig_seen(struct rig *rig, uint32_t pid, uint64_t generation, const char *maps,
	      const char *object)
{
	rig->fake.maps = maps;
	rig->fake.object = object;
	rig->fake.identity.device = makedev(8, 1);
	rig_event(rig, EVENT_SEEN, pid, generation, 0, 0);
}

static struct image_segment own_text(void)
{
	const struct image_segment *segments;
	struct image_segment text = {0};
	struct image *image;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_int_equal(image_open(fd, &image), 0);
	for (size_t i = image_segments(image, &segments); i-- > 0;)
		if (segments[i].executable)
			text = segments[i];
	image_close(image);
	close(fd);
	return text;
}

uint64_t rig_own_address(void (*function)(void))
{
	return (uint64_t)(uintptr_t)function - (uint64_t)(uintptr_t)&__ehdr_start;
}

uint64_t rig_seen_own(struct rig *rig, void (*function)(void), struct image_segment *ret_text)
{
	static char maps[256];
	struct image_segment text = own_text();
	uint64_t offset = text.file_offset & ~4095ull;

	snprintf(maps, sizeof(maps), "%llx-%llx r-xp %llx 08:01 262144 /opt/test (deleted)\n",
		 RIG_OWN_PLACE, (RIG_OWN_PLACE + text.file_size + 8191) & ~4095ull,
		 (unsigned long long)offset);
	rig_seen(rig, 5, 100, maps, "/proc/self/exe");
	*ret_text = text;
	return RIG_OWN_PLACE + rig_own_address(function) - text.address + text.file_offset - offset;
}

/* Reads as the ring's reader does. */
static void skip_end(struct rig *rig)
{
	const uint64_t left = RING_BYTES_MIN - rig->head % RING_BYTES_MIN;

	rig->head += left < RECORD_BYTES_MAX ? left : 0;
}

void rig_code(struct rig *rig, struct event_code *code)
{
	code->event.time = ++rig->now;
	put_event(rig, code, sizeof(*code));
}

static struct record *put_sample(struct rig *rig, const struct record *head, const u64 *frames)
{
	size_t frame_bytes = sizeof(u64) * record_words(head);
	uint64_t bytes = sizeof(struct record) + frame_bytes;
	struct record *record;

	skip_end(rig);
	record = (struct record *)(rig->rings + rig->head % RING_BYTES_MIN);
	*record = *head;
	record->time = ++rig->now;
	record->tid = record->pid;
	memcpy(record->comm, "thread", sizeof("thread"));
	memcpy(record + 1, frames, frame_bytes);
	record->commit = record_commit(rig->head, bytes);
	rig->head += bytes;
	return record;
}

struct record *rig_sample(struct rig *rig, uint32_t pid, uint64_t generation, uint32_t reason,
			  const u64 *frames, uint16_t kernel, uint16_t user)
{
	const struct record head = {
		.generation = generation,
		.pid = pid,
		.kernel_frames = kernel,
		.user_frames = user,
		.reason = (u8)reason,
	};

	return put_sample(rig, &head, frames);
}

struct record *rig_sample_context(struct rig *rig, uint32_t pid, uint64_t generation,
				  const u64 *frames, uint16_t user, uint16_t words, uint8_t flags)
{
	const struct record head = {
		.generation = generation,
		.pid = pid,
		.user_frames = user,
		.reason = REASON_end_root,
		.flags = flags,
		.runtime_words = words,
		.runtime = RUNTIME_WHOLE,
		.context = CONTEXT_TAKEN,
	};

	return put_sample(rig, &head, frames);
}

struct record *rig_sample_scripts(struct rig *rig, uint32_t pid, uint64_t generation,
				  const u64 *frames, uint16_t user, uint16_t words)
{
	const struct record head = {
		.generation = generation,
		.pid = pid,
		.user_frames = user,
		.reason = REASON_end_root,
		.runtime_words = words,
		.runtime = RUNTIME_WHOLE,
	};

	return put_sample(rig, &head, frames);
}

uint64_t rig_leaves(struct rig *rig, uint64_t generation, u64 frame)
{
	const struct record head = {
		.generation = generation,
		.pid = 5,
		.user_frames = 1,
		.reason = REASON_end_root,
		.flags = RECORD_FLAG_OFF_CPU,
	};
	const u64 words[] = {frame, OFF_WORD(OFF_CERTAIN, 0, OFF_SLEEPS)};

	return put_sample(rig, &head, words)->time;
}

uint64_t rig_runs_again(struct rig *rig, uint64_t left)
{
	struct event_wait wait = {.event = {.time = ++rig->now, .kind = EVENT_WAIT, .pid = 5},
				  .began = left,
				  .left = left,
				  .tid = 5};

	put_event(rig, &wait, sizeof(wait));
	return wait.event.time;
}

void rig_turn(struct rig *rig)
{
	rig->now += 10 * NS_PER_MS;
	session_turn(rig->session);
}

/* Waits for the parse thread. Returns false if the thread has nothing to do. */
static bool parsed_one(const struct rig *rig)
{
	struct pollfd fd = {.fd = parser_fd(rig->parser), .events = POLLIN};

	if (objects_parsing(session_objects(rig->session)) == 0)
		return false;
	assert_int_equal(poll(&fd, 1, PARSED_MS), 1);
	return true;
}

void rig_settle(struct rig *rig)
{
	do {
		rig_turn(rig);
		fake_target_answer(&rig->fake);
		rig_turn(rig);
	} while (rig->fake.count > 0 || parsed_one(rig));
	rig_turn(rig);
}

static u64 slot_block(const struct rig *rig, uint32_t pid, uint64_t generation)
{
	for (size_t i = 0; i < PROCESS_SLOTS; i++)
		if (rig->slots->slot[i].key == process_slot_key(pid, generation))
			return rig->slots->slot[i].block;
	return 0;
}

const struct mapping_entry *rig_find(const struct rig *rig, uint32_t pid, uint64_t generation,
				     uint64_t address)
{
	u64 block = slot_block(rig, pid, generation);
	uint32_t count = block >> 24 & 0x1fff, word = (uint32_t)(block & 0xffffff) << 4;
	const struct mapping_entry *entries =
		(const struct mapping_entry *)(rig->segment->word + word +
					       (count * 2 + 15) / 16 * 16);

	for (uint32_t i = 0; block && i < count; i++)
		if (address >= entries[i].start && address < entries[i].end)
			return &entries[i];
	return NULL;
}

uint64_t rig_version(const struct rig *rig, uint32_t pid, uint64_t generation)
{
	return process_slot_version(slot_block(rig, pid, generation));
}

char *rig_stack(const struct rig *rig, size_t sample)
{
	const struct profile *profile = session_profile(rig->session);
	const uint32_t *locations;
	const size_t count = profile_samples(profile);
	size_t depth;
	char *text = calloc(1, 65536);

	if (sample >= count || !text)
		abort();
	depth = profile_stack_get(profile, profile_sample_get(profile, sample).stack, &locations);
	for (size_t i = 0; i < depth; i++) {
		const struct profile_location *location =
			profile_location_get(profile, locations[i]);
		const struct profile_function *function =
			profile_function_get(profile, location->function);

		if (i > 0)
			strncat(text, ";", 2);
		strncat(text, function ? profile_string_get(profile, function->name) : "?", 1000);
	}
	return text;
}

void rig_check_stack(const struct rig *rig, size_t sample, const char *wanted)
{
	char *stack = rig_stack(rig, sample);

	assert_string_equal(stack, wanted);
	free(stack);
}
