/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker that was taken over and wants to read the heap of a target. It leads the walk over a
 * runtime's list to secret words. One victim has no grant, and the other one may get a grant.
 * The worker knows where everything lies (struct attack, written into the file), but not the words.
 *
 * Output goes to standard error, which KEYHOLE_DEBUG_STDERR=1 connects to the test:
 *   P name		     a phase begins, or all is done
 *   G claim error	     the broker's answer
 *   B phase victim lists listed told ns   bytes of words and of told code that came out
 *   W phase victim hex	     32 bits as the place of an instruction in a list
 *   T phase victim hex	     a word of told code
 *   R phase victim result samples
 *   X phase victim looked taken	     samples whose context BPF was led to, and that came out
 *   L phase victim looked	     samples in which BPF looked for labels of a goroutine
 *   C name count from to    records of the control process between two moments
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "ipc/time.h"
#include "tests/canary/list_config.h"
#include "tests/canary/taken_over.h"
#include "tests/canary/victim.h"
#include "worker/sample/event_ring.h"

#define ADDRESS_END (1ull << 47)
#define VICTIMS	    2u
#define SAFE	    0u /* the victim without a grant, */
#define GRANTED	    1u /* and the other one */
#define RESULTS	    (RUNTIME_CUT_BUDGET + 1u)
#define CHUNK	    1024u  /* words: the chunk, */
#define DIRECTORY   2048u  /* its directory, */
#define PLAN	    16384u /* and what a victim's mapping has */
#define PLAN_WORDS  1024u
#define PLANS	    16u
#define TEXT_PAGES  (64u * 64u) /* 1 MiB */
#define CONFIG_AT   64u
#define BLOCK_AT    144u /* behind the config */
_Static_assert(CONFIG_AT * 4 + sizeof(struct runtime_config) <= BLOCK_AT * 4, "the config fits");
#define SHOWN	    100000u		 /* words that are printed of a phase */
#define SAMPLES	    200u		 /* of each victim in a phase, at least, */
#define STALE_STEP  30u			 /* and of each step of the last phase */
#define PATIENCE_NS (20 * NS_PER_SECOND) /* with which they are waited for */
#define LONG_NS	    (8 * NS_PER_SECOND)
#define STEP_NS	    (NS_PER_SECOND / 10)

/* The test writes this. */
struct attack {
	struct victim victim[VICTIMS];
	uint64_t start[VICTIMS], end[VICTIMS]; /* of the mapping of the program's code */
	uint64_t data, data_end;	       /* a mapping of the second one that is no code */
};

/* Not const: the compiler must read the words of the file. */
static volatile struct {
	char marker[16];
	struct attack attack;
} written = {"canary-victim", {{{0}}, {0}, {0}, 0, 0}};

static struct attack attack;
static struct channel loader, broker;
static struct regions regions;
static struct ring rings[ABI_MAX_CPUS];
static struct event_ring events;
static const char *phase;
static uint64_t begun, controls, shown;
static struct {
	uint64_t generation, version, lists, listed, told, results[RESULTS];
	uint64_t looked, contexts; /* of threads */
	uint64_t labels;
	struct map *seen;
} got[VICTIMS];

/* ---- tables ---- */

static u32 *at(uint32_t word)
{
	return (u32 *)regions.segments[0] + word;
}

static void put64(uint32_t word, uint64_t value)
{
	memcpy(at(word), &value, sizeof(value));
}

/* One chunk whose only row is rule 0, and a directory that names this chunk everywhere. */
static void write_common(void)
{
	u16 *half = (u16 *)at(CHUNK);

	for (uint32_t i = 0; i <= CHUNK_PAGES; i++)
		half[i] = 1;
	half[CHUNK_ESCAPES_AT] = 0;
	half[CHUNK_ROWS_AT] = 1;
	half[CHUNK_HEAD_U16] = 0;
	for (uint32_t i = 0; i < TEXT_PAGES / CHUNK_PAGES; i++)
		*at(DIRECTORY + i) = CHUNK;
}

/*
 * The leaf's caller is wherever an address behind a call lies on the stack. Before the made-up
 * frames of functions, the frame pointer is below.
 */
static uint64_t leaf_rule(const struct victim *victim, uint64_t slot)
{
	const u32 slots = slot == victim->entry + offsetof(struct fake_entry, called);

	return RULE_MAKE(RULE_SP, 0, slots, (s64)(slot - victim->sp + 8), RULE_FLAG_RUNTIME);
}

/* The last address behind a call in its page: so the walk reads few words of the stack. */
static uint64_t last_of_page(const struct victim *victim)
{
	const uint64_t page = (victim->code + TAKEN_OVER_PAGE - 1) & ~(TAKEN_OVER_PAGE - 1ull);

	return page - 8;
}

/*
 * Leads BPF to a context, behind the entries: the 24 bytes before a program header, of which some
 * begin with a 1. No victim has a grant for that. Labels of goroutines are claimed, too: nobody has
 * asked for them.
 */
static void lead_context(uint32_t word, uint32_t number)
{
	const uint64_t header =
		attack.data + sizeof(Elf64_Ehdr) + got[number].version % 8 * sizeof(Elf64_Phdr);
	const struct thread_context context = {
		.root = {.start = RUNTIME_AT_PC, .pc = header - 24},
		.go = {.thread_local_at = -8, .form = GO_LABELS_LIST}};

	memcpy(at(word), &context, sizeof(context));
}

/*
 * Publishes two mappings: the leaf, whose caller ends the stack, and all else. With RUNTIME_HEAPS,
 * what is behind the leaf is code that a runtime has made.
 */
static void publish(uint32_t number, uint64_t slot, const struct runtime_config *config)
{
	static uint32_t area;
	const struct victim *victim = &attack.victim[number];
	struct process_table *table = regions.processes;
	struct process_slot *place = &table->slot[process_slot_hash(victim->pid)];
	const uint32_t plan = PLAN + area++ % PLANS * PLAN_WORDS;
	const uint64_t edge[] = {0, victim->leaf, victim->leaf_end, ADDRESS_END};

	put64(plan, leaf_rule(victim, slot));
	put64(plan + 32, RULE_MAKE(RULE_END, 0, 0, 0, 0));
	memcpy(at(plan + CONFIG_AT), config, sizeof(*config));
	for (uint32_t i = 0; i < 3; i++) {
		struct mapping_entry entry = {.start = edge[i],
					      .end = edge[i + 1],
					      .bias = i == 1 ? victim->leaf : victim->text,
					      .pages = TEXT_PAGES,
					      .directory = DIRECTORY,
					      .dictionary = i == 1 ? plan : plan + 32,
					      .flags = MAPPING_HAS_TABLE,
					      .runtime = plan + CONFIG_AT};

		if (i == 2 && config->flags & RUNTIME_HEAPS)
			entry.flags = 0;
		put64(plan + BLOCK_AT + 2 * i, edge[i]);
		memcpy(at(plan + BLOCK_AT + 16 * (i + 1)), &entry, sizeof(entry));
	}
	lead_context(plan + BLOCK_AT + 16 * 4, number);
	__atomic_store_n(&place->block,
			 process_slot_block(plan + BLOCK_AT, 3,
					    ++got[number].version & PROCESS_SLOT_VERSION_MAX) |
				 PROCESS_SLOT_CONTEXT | PROCESS_SLOT_LABELS,
			 __ATOMIC_SEQ_CST);
	__atomic_store_n(&place->key, process_slot_key(victim->pid, got[number].generation),
			 __ATOMIC_SEQ_CST);
}

/* ---- what comes out ---- */

static int victim_of(uint32_t pid)
{
	for (uint32_t i = 0; i < VICTIMS; i++)
		if (attack.victim[i].pid == pid)
			return (int)i;
	return -1;
}

static void show(char kind, uint32_t number, uint64_t word)
{
	if (!got[number].seen || shown >= SHOWN || map_get(got[number].seen, word + 1))
		return;
	map_put(got[number].seen, word + 1, got);
	shown++;
	fprintf(stderr, "%c %s %u %" PRIx64 "\n", kind, phase, number, word);
}

static void take_words(uint32_t number, const struct record *head, const u64 *words)
{
	got[number].lists += head->runtime_words != 0;
	got[number].listed += 8ull * head->runtime_words;
	for (uint32_t i = 0; i + 1 < head->runtime_words; i++)
		if (words[i] & RUNTIME_WORD_FRAME)
			show('W', number, words[++i] >> 32);
}

static void take(const struct record *head, const u64 *frames)
{
	const int number = victim_of(head->pid);

	controls += head->pid == attack.victim[0].control && head->time >= begun;
	if (number < 0)
		return;
	got[number].generation = head->generation;
	if (head->time < begun)
		return;
	if (head->runtime < RESULTS)
		got[number].results[head->runtime]++;
	got[number].looked += head->context != CONTEXT_NOT_PUBLISHED;
	got[number].contexts += head->context == CONTEXT_TAKEN;
	got[number].labels += head->labels != LABELS_NOT_WANTED || head->label_words != 0;
	take_words((uint32_t)number, head, frames + head->kernel_frames + head->user_frames);
}

static void take_code(const struct event_code *code)
{
	const int number = victim_of(code->event.pid);
	uint64_t word;

	if (number < 0 || code->event.time < begun)
		return;
	for (uint32_t i = 0; i < RUNTIME_PARTS; i++)
		got[number].told += code->bytes[i];
	for (uint32_t i = 0; i < CODE_PART_1; i += sizeof(word)) {
		memcpy(&word, code->data + i, sizeof(word));
		show('T', (uint32_t)number, word);
	}
}

static void drain(void)
{
	struct record head;
	struct event event;
	const u64 *frames;

	for (uint32_t i = 0; i < regions.config.cpus; i++) {
		while (ring_next(&rings[i], &head, &frames))
			take(&head, frames);
		ring_publish(&rings[i]);
	}
	while (event_ring_next(&events, &event))
		if (events.has_code)
			take_code(&events.code);
}

/* ---- phases ---- */

static void obey(void)
{
	struct message message;

	if (channel_receive(&loader, &message) != 0)
		_exit(0);
}

static void begin(const char *name)
{
	drain();
	phase = name;
	shown = controls = 0;
	for (uint32_t i = 0; i < VICTIMS; i++) {
		map_free(got[i].seen);
		got[i].seen = map_new();
		got[i].lists = got[i].listed = got[i].told = 0;
		got[i].looked = got[i].contexts = got[i].labels = 0;
		memset(got[i].results, 0, sizeof(got[i].results));
	}
	begun = time_now();
	fprintf(stderr, "P %s\n", name);
}

static uint64_t samples_of(uint32_t number)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < RESULTS; i++)
		sum += got[number].results[i];
	return sum;
}

static void look(void)
{
	poll(NULL, 0, 1);
	drain();
	obey();
}

/* Waits for so long and for so many more samples of each victim. */
static void wait_for(uint64_t ns, uint64_t samples)
{
	const uint64_t safe = samples_of(SAFE) + samples, granted = samples_of(GRANTED) + samples,
		       start = time_now();

	while (time_now() < start + PATIENCE_NS &&
	       (time_now() < start + ns || samples_of(SAFE) < safe ||
		samples_of(GRANTED) < granted))
		look();
}

static void end(void)
{
	const uint64_t now = time_now();

	for (uint32_t i = 0; i < VICTIMS; i++) {
		fprintf(stderr, "B %s %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", phase,
			i, got[i].lists, got[i].listed, got[i].told, now - begun);
		fprintf(stderr, "X %s %u %" PRIu64 " %" PRIu64 "\n", phase, i, got[i].looked,
			got[i].contexts);
		fprintf(stderr, "L %s %u %" PRIu64 "\n", phase, i, got[i].labels);
		for (uint32_t k = 0; k < RESULTS; k++)
			if (got[i].results[k])
				fprintf(stderr, "R %s %u %u %" PRIu64 "\n", phase, i, k,
					got[i].results[k]);
	}
	fprintf(stderr, "C %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", phase, controls, begun, now);
}

/* ---- claims ---- */

static void claim(const char *name, struct message_grant grant)
{
	struct message message;

	if (channel_send(&broker, MESSAGE_GRANT, &grant, sizeof(grant), -1) ||
	    channel_wait(&broker, 10000, &message) != 1)
		_exit(1);
	fprintf(stderr, "G %s %d\n", name, message.GRANT_REPLY.error);
}

static struct message_grant grant_of(uint32_t number)
{
	return (struct message_grant){.generation = got[number].generation,
				      .start = attack.start[number],
				      .end = attack.end[number],
				      .pid = attack.victim[number].pid,
				      .thread = attack.victim[number].pid};
}

/* Claims that are wrong, each in one thing. None may be granted. */
static void lie(void)
{
	struct message_grant grant = grant_of(SAFE);

	claim("its-own-file", grant);
	grant.generation = got[GRANTED].generation;
	claim("the-generation-of-another", grant);
	grant = grant_of(GRANTED);
	grant.pid = grant.thread = attack.victim[SAFE].pid;
	claim("the-mapping-of-another", grant);
	grant.generation = got[SAFE].generation;
	claim("the-mapping-of-another-in-its-generation", grant);
	grant = grant_of(GRANTED);
	grant.thread = attack.victim[SAFE].pid;
	claim("the-thread-of-another", grant);
	grant = grant_of(GRANTED);
	grant.generation++;
	claim("the-next-generation", grant);
	grant = grant_of(GRANTED);
	grant.generation--;
	claim("the-last-generation", grant);
	grant = grant_of(GRANTED);
	grant.end += TAKEN_OVER_PAGE;
	claim("a-longer-mapping", grant);
	grant = grant_of(GRANTED);
	grant.start = attack.data;
	grant.end = attack.data_end;
	claim("a-mapping-of-data", grant);
}

/* ---- attacks ---- */

static void read_both(const char *name, uint16_t code, uint64_t ns)
{
	begin(name);
	for (uint32_t i = 0; i < VICTIMS; i++) {
		const struct runtime_config config = over_nodes(&attack.victim[i], code, SECRET);

		publish(i, attack.victim[i].slot[SECRET_CALLED], &config);
	}
	wait_for(ns, SAMPLES);
	end();
}

/* Leads the walk of both over functions that have frames, step by step. */
static void read_functions(const char *name, make_config *make, uint64_t ns)
{
	const uint64_t start = time_now();
	uint32_t step = 0;

	begin(name);
	do {
		for (uint32_t i = 0; i < VICTIMS; i++) {
			const struct victim *victim = &attack.victim[i];
			const struct runtime_config config = make(victim, step);

			publish(i, victim->entry + offsetof(struct fake_entry, called), &config);
		}
		step++;
		wait_for(STEP_NS, 1);
	} while (time_now() < start + ns);
	wait_for(0, SAMPLES);
	end();
}

/*
 * The list of the granted victim shows what is behind its own bytes: words of an earlier walk, of
 * the other victim. Fields of frames, and then those of code, lie there.
 */
static void read_stale(void)
{
	struct runtime_config config = over_nodes(&attack.victim[GRANTED], SAME, SECRET);

	begin("stale");
	publish(SAFE, attack.victim[SAFE].slot[SECRET_CALLED], &config);
	for (uint32_t at_byte = 128; at_byte < 2048; at_byte += 60) {
		config.instruction = (uint16_t)at_byte;
		publish(GRANTED, last_of_page(&attack.victim[GRANTED]), &config);
		wait_for(0, STALE_STEP);
	}
	end();
}

static _Noreturn void run(void)
{
	write_common();
	begin("idle");
	while (!got[SAFE].generation || !got[GRANTED].generation)
		look();
	wait_for(NS_PER_SECOND, SAMPLES);
	end();
	read_both("ungranted", SAME, 0);
	read_both("ungranted-code", OWN, 0);
	read_functions("ungranted-heaps", over_heap, 0);
	read_functions("ungranted-frames", over_frames, 0);
	lie();
	read_both("refused", OWN, 0);
	claim("what-is-true", grant_of(GRANTED));
	read_both("told", OWN, LONG_NS);
	read_both("listed", SAME, LONG_NS);
	read_functions("heaps", over_heap, LONG_NS);
	read_functions("frames", over_frames, LONG_NS);
	read_stale();
	fprintf(stderr, "P done\n");
	while (true) {
		poll(NULL, 0, 100);
		obey();
	}
}

int main(void)
{
	setvbuf(stderr, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(attack); i++)
		((char *)&attack)[i] = ((const volatile char *)&written.attack)[i];
	taken_over_begin(&loader, &regions, rings);
	event_ring_init(&events, regions.event_consumer, regions.event_producer, TAKEN_OVER_PAGE,
			EVENT_RING_BYTES);
	channel_init(&broker, regions.broker_fd, PARTY_WORKER, PARTY_BROKER);
	broker.phase = PHASE_RUN;
	run();
}
