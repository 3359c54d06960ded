/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker that was taken over and wants to read a target's stack. It behaves until it has all its
 * descriptors. Then it writes tables and mappings for the victim that lead the walk over secret
 * words, and reads the records. The worker knows where everything lies (struct victim, written into
 * the file), but not the words.
 *
 * Output goes to standard error, which KEYHOLE_DEBUG_STDERR=1 connects to the test:
 *   P name	  a phase begins, or all is done
 *   W form hex	  a user address came out that is not the victim's pc
 *   O form slot hex  a word found by asking whether it is below others
 *   C name count from to  records of the control process between two moments
 *   F frames records ns  the long walk: frames in all, records, time
 *   A form asked answered  attempts
 *   S attack crossed refused  walks where a rule says that Go changes stacks
 *   R reason count  how walks ended
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bpf/abi.h"
#include "ipc/channel.h"
#include "ipc/time.h"
#include "base/map.h"
#include "profile/profile.h"
#include "tests/canary/taken_over.h"
#include "tests/canary/victim.h"
#include "worker/regions.h"
#include "worker/sample/ring.h"

#define ADDRESS_END (1ull << 47)
#define WAIT_NS	    (40 * NS_PER_MS)
#define SETTLE_NS   (20 * 1000ull) /* an earlier walk may still see the old block */
#define IDLE_NS	    (3 * NS_PER_SECOND)
#define LONG_NS	    (2 * NS_PER_SECOND)
#define REG_RBP	    6u
#define LAYOUT	    1u	/* of Go's structures in the victim */
#define OFFSETS	    64u /* from the thread pointer, that are tried */
#define SEARCHED    2u	/* slots of which each bit is asked for; twice as many registers */
#define ATTEMPTS    5u
#define REG_RBX	    3u
#define REG_RSP	    7u
#define TEXT_PAGES  (64u * 64u) /* 1 MiB */
#define PAGE	    4096u

/* How the walk is led to a word. */
enum form {
	FORM_SP,       /* below a CFA relative to rsp */
	FORM_END,      /* the same, and the found word is an entry point */
	FORM_SIGNAL,   /* the same, and the found word is a signal's trampoline */
	FORM_WIDE,     /* by a wide rule's own offset */
	FORM_DEREF,    /* a CFA read from memory */
	FORM_SAVED,    /* as a saved register, which then is the return address */
	FORM_BASE,     /* as a saved register, which then is the base of the CFA */
	FORM_REGISTER, /* a register of the leaf */
	FORM_FALLBACK, /* no rule at all */
	FORM_CONTEXT,  /* as the pc of a signal's context */
	FORM_LONG,     /* word by word upwards */
	FORM_SWITCH,   /* where Go is said to change stacks: on the other stack, */
	FORM_SWITCHED, /* and as the rbp that is saved there, which then is the return address */
	FORMS
};

static const char *const form_names[FORMS] = {"sp",    "end",	 "signal",   "wide",	 "deref",
					      "saved", "base",	 "register", "fallback", "context",
					      "long",  "switch", "switched"};

/* Not const: the compiler must read the words of the file. */
static volatile struct {
	char marker[16];
	struct victim victim;
} written = {"canary-victim", {0}};

static struct victim victim;
static struct channel loader;
static struct regions regions;
static struct ring rings[ABI_MAX_CPUS];
static struct map *seen;
static uint64_t generation, version, controls, asked[FORMS], answered[FORMS];
static uint64_t reasons[REASON_COUNT], crossed, refused;
static uint64_t phase_begun;
static uint32_t directory, area;

/* ---- tables ---- */

static u32 *at(uint32_t word)
{
	return (u32 *)regions.segments[0] + word;
}

static void put64(uint32_t word, uint64_t value)
{
	memcpy(at(word), &value, sizeof(value));
}

/* Writes one chunk whose only row is rule 0, and a directory that names this chunk everywhere. */
static void write_common(void)
{
	const uint32_t chunk = 1024;
	u16 *half = (u16 *)at(chunk);

	for (uint32_t i = 0; i <= CHUNK_PAGES; i++)
		half[i] = 1;
	half[CHUNK_ESCAPES_AT] = 0;
	half[CHUNK_ROWS_AT] = 1;
	half[CHUNK_HEAD_U16] = 0;
	directory = 2048;
	for (uint32_t i = 0; i < TEXT_PAGES / CHUNK_PAGES; i++)
		*at(directory + i) = chunk;
}

/* The view of one walk: rules for the leaf, for the program, and for the trampoline's page. */
struct plan {
	uint64_t leaf, text, trampoline;
	struct rule_wide leaf_wide, text_wide;
	uint64_t threshold; /* addresses from here on are in a mapping that is not ready; 0: none */
	enum form form;
};

static struct rule_wide wide_rule(uint32_t base, int64_t cfa, uint32_t ra_reg, int64_t ra)
{
	struct rule_wide wide = {.cfa_offset = (s32)cfa,
				 .base = (u8)base,
				 .ra_reg = (u8)ra_reg,
				 .ra_offset = (s32)ra};

	for (uint32_t i = 0; i < RULE_SLOTS; i++)
		wide.save[i] = RULE_WIDE_SAME;
	return wide;
}

/* Rule 0, then room for a wide one as number 1. */
static void write_dictionary(uint32_t word, uint64_t rule, const struct rule_wide *wide)
{
	put64(word, rule);
	memcpy(at(word + 2), wide, sizeof(*wide));
}

#define EDGES	   9u
#define TEXT_BYTES ((uint64_t)TEXT_PAGES << PAGE_BITS)

static uint32_t edges_of(const struct plan *plan, uint64_t edge[EDGES])
{
	const uint64_t wanted[EDGES] = {0,
					victim.leaf,
					victim.leaf_end,
					victim.restorer & ~(PAGE - 1ull),
					(victim.restorer & ~(PAGE - 1ull)) + PAGE,
					victim.text,
					victim.text + TEXT_BYTES,
					plan->threshold,
					ADDRESS_END};
	uint32_t count = 0;

	for (uint32_t i = 0; i < EDGES; i++) {
		uint32_t place = count;

		for (uint32_t k = 0; k < count; k++)
			if (edge[k] == wanted[i])
				place = EDGES;
		if (place == EDGES)
			continue;
		while (place > 0 && edge[place - 1] > wanted[i]) {
			edge[place] = edge[place - 1];
			place--;
		}
		edge[place] = wanted[i];
		count++;
	}
	return count;
}

static struct mapping_entry entry_of(const struct plan *plan, uint64_t start, uint64_t end,
				     uint32_t dictionaries)
{
	struct mapping_entry entry = {.start = start,
				      .end = end,
				      .bias = victim.text,
				      .pages = TEXT_PAGES,
				      .directory = directory,
				      .dictionary = dictionaries + 32,
				      .flags = MAPPING_HAS_TABLE};

	if (start == victim.leaf) {
		entry.bias = start;
		entry.dictionary = dictionaries;
	} else if (start <= victim.restorer && victim.restorer < end) {
		entry.bias = start;
		entry.dictionary = dictionaries + 64;
	}
	/* the way to the word goes through the program itself */
	if (plan->threshold && start >= plan->threshold && start - victim.text >= TEXT_BYTES)
		entry.flags = MAPPING_PENDING;
	return entry;
}

/* Dictionaries at +0, +32 and +64, the block at +96. */
#define PLAN_WORDS  256u
#define PLAN_FIRST  16384u
#define PLAN_COUNT  512u
#define BLOCK_AT    96u
#define BLOCK_WIDTH 16u /* words of an entry, and of the starts */

static void publish(const struct plan *plan)
{
	struct process_table *table = regions.processes;
	struct process_slot *slot = &table->slot[process_slot_hash(victim.pid)];
	uint32_t base = PLAN_FIRST + area++ % PLAN_COUNT * PLAN_WORDS, block = base + BLOCK_AT;
	uint64_t edge[EDGES];
	uint32_t count = edges_of(plan, edge) - 1;

	write_dictionary(base, plan->leaf, &plan->leaf_wide);
	write_dictionary(base + 32, plan->text, &plan->text_wide);
	write_dictionary(base + 64, plan->trampoline, &plan->text_wide);
	for (uint32_t i = 0; i < count; i++) {
		struct mapping_entry entry = entry_of(plan, edge[i], edge[i + 1], base);

		put64(block + 2 * i, edge[i]);
		memcpy(at(block + BLOCK_WIDTH * (i + 1)), &entry, sizeof(entry));
	}
	__atomic_store_n(&slot->block,
			 process_slot_block(block, count, ++version & PROCESS_SLOT_VERSION_MAX),
			 __ATOMIC_SEQ_CST);
	__atomic_store_n(&slot->key, process_slot_key(victim.pid, generation), __ATOMIC_SEQ_CST);
}

/* ---- what comes back ---- */

struct answer {
	bool here;
	uint32_t reason, frames;
};

static void take_frames(const struct record *head, const u64 *frames, enum form form)
{
	for (uint32_t i = 0; i < head->user_frames; i++) {
		uint64_t address = FRAME_ADDRESS(frames[head->kernel_frames + i]);

		if ((address >= victim.leaf && address < victim.leaf_end) || map_get(seen, address))
			continue;
		map_put(seen, address, seen);
		fprintf(stderr, "W %s %" PRIx64 "\n", form_names[form], address);
	}
}

static void take(const struct record *head, const u64 *frames, uint64_t after, enum form form,
		 struct answer *answer)
{
	controls += head->pid == victim.control && head->time >= phase_begun;
	if (head->pid != victim.pid || head->tid != victim.pid)
		return;
	generation = head->generation;
	if (head->time < after)
		return;
	take_frames(head, frames, form);
	reasons[head->reason]++;
	if (!answer->here)
		*answer = (struct answer){true, head->reason, head->user_frames};
}

static void drain(uint64_t after, enum form form, struct answer *answer)
{
	struct record head;
	const u64 *frames;

	for (uint32_t i = 0; i < regions.config.cpus; i++) {
		while (ring_next(&rings[i], &head, &frames))
			take(&head, frames, after, form, answer);
		ring_publish(&rings[i]);
	}
}

static void finish(void)
{
	for (uint32_t i = 0; i < FORMS; i++)
		fprintf(stderr, "A %s %" PRIu64 " %" PRIu64 "\n", form_names[i], asked[i],
			answered[i]);
	for (uint32_t i = 0; i < REASON_COUNT; i++)
		if (reasons[i])
			fprintf(stderr, "R %s %" PRIu64 "\n", profile_reason(i)->name, reasons[i]);
	_exit(0);
}

static void obey(void)
{
	struct message message;
	int r = channel_receive(&loader, &message);

	if (r != 0)
		finish();
}

/* The first walk that saw the plan. */
static struct answer ask(const struct plan *plan)
{
	struct answer answer = {0};
	uint64_t now, after;

	publish(plan);
	after = time_now() + SETTLE_NS;
	do {
		poll(NULL, 0, 1);
		drain(after, plan->form, &answer);
		now = time_now();
	} while (!answer.here && now < after + WAIT_NS);
	asked[plan->form]++;
	answered[plan->form] += answer.here;
	obey();
	return answer;
}

/* ---- attacks ---- */

#define SP_RULE(offset) RULE_MAKE(RULE_SP, 0, 0, (s64)(offset), 0)
#define BARE(kind)	RULE_MAKE(kind, 0, 0, 0, 0)
#define WIDE_RULE	RULE_MAKE(RULE_WIDE, 0, 0, 1, 0)

/* The goroutine has left its stack at the first slot. */
static uint64_t switch_rule(enum go_switch kind, uint64_t address, uint32_t more)
{
	const uint32_t words = (uint32_t)(address - victim.slot[0]) / 8;

	return RULE_MAKE(RULE_SWITCH, kind, GO_SWITCH_OPERANDS(words & 255, LAYOUT, 0, 0) | more,
			 (int64_t)victim.thread_local_at, 0);
}

#define SWITCH_SAVED GO_SWITCH_OPERANDS(0u, 0u, 0u, 1u)

/* To the word at `address`, which for FORM_REGISTER is a register's number. */
static struct plan plan_for(enum form form, uint64_t address)
{
	int64_t offset = (int64_t)(address - victim.sp);
	struct plan plan = {.form = form,
			    .leaf = SP_RULE(offset + 8),
			    .text = SP_RULE(8),
			    .trampoline = BARE(RULE_SIGNAL)};

	switch (form) {
	case FORM_END:
		plan.text = BARE(RULE_END);
		break;
	case FORM_SIGNAL:
		plan.text = BARE(RULE_SIGNAL);
		break;
	case FORM_WIDE:
		plan.leaf = WIDE_RULE;
		plan.leaf_wide = wide_rule(REG_RSP, 8, 16, offset - 8);
		break;
	case FORM_DEREF:
		plan.leaf = WIDE_RULE;
		plan.leaf_wide = wide_rule(REG_RSP, (int64_t)(victim.pointer - victim.sp), 16, -8);
		plan.leaf_wide.deref = 1;
		plan.leaf_wide.cfa_add = (s32)(address + 8 - victim.slot[SECRET_RANDOM]);
		break;
	case FORM_SAVED:
	case FORM_BASE:
		plan.leaf = RULE_MAKE(RULE_SP, 0, 1 << 4, offset + 16, 0);
		plan.text = form == FORM_BASE ? RULE_MAKE(RULE_REG, REG_RBX, 0, 0, 0) : WIDE_RULE;
		plan.text_wide = wide_rule(REG_RSP, 8, REG_RBX, 0);
		break;
	case FORM_REGISTER:
		plan.leaf = WIDE_RULE;
		plan.leaf_wide = wide_rule(REG_RSP, 8, (uint32_t)address, 0);
		break;
	case FORM_SWITCH:
		plan.leaf = switch_rule(GO_SWITCH_SYSTEM, address, 0);
		break;
	case FORM_SWITCHED:
		plan.leaf = switch_rule(GO_SWITCH_SYSTEM, address + 8, SWITCH_SAVED);
		plan.text = WIDE_RULE;
		plan.text_wide = wide_rule(REG_RSP, 8, REG_RBP, 0);
		break;
	case FORM_FALLBACK:
		plan.leaf = plan.text = BARE(RULE_NONE);
		break;
	default:
		break;
	}
	return plan;
}

static void try_form(enum form form, uint64_t address)
{
	struct plan plan = plan_for(form, address);

	ask(&plan);
}

/*
 * Is the word below others? Each answer halves the possible values, if the reasons tell. The walk
 * looks up the byte before the word.
 */
static void search(enum form form, uint64_t address, uint32_t slot)
{
	struct plan plan = plan_for(form, address);
	uint64_t low = 0, high = ADDRESS_END;

	while (high - low > 1) {
		struct answer answer;

		plan.threshold = low + (high - low) / 2;
		answer = ask(&plan);
		for (uint32_t i = 0; i < ATTEMPTS && !answer.here; i++)
			answer = ask(&plan);
		if (!answer.here)
			return;
		if (answer.reason == REASON_cut_not_ready)
			low = plan.threshold;
		else
			high = plan.threshold;
	}
	fprintf(stderr, "O %s %u %" PRIx64 "\n", form_names[form], slot, low + 1);
}

static void attack_slots(void)
{
	static const enum form forms[] = {FORM_SP,    FORM_END,	  FORM_SIGNAL, FORM_WIDE,
					  FORM_DEREF, FORM_SAVED, FORM_BASE};

	for (uint32_t kind = 0; kind < SECRET_KINDS; kind++)
		for (uint32_t i = 0; i < VICTIM_SLOTS; i++)
			for (uint32_t k = 0; k < sizeof(forms) / sizeof(*forms); k++)
				try_form(forms[k], victim.slot[kind] + 16 * i);
	for (uint32_t i = 0; i < VICTIM_SLOTS; i++)
		try_form(FORM_CONTEXT, victim.signal + sizeof(struct fake_signal) * i);
	try_form(FORM_FALLBACK, 0);
}

static void attack_registers(void)
{
	static const uint32_t numbers[VICTIM_REGISTERS] = VICTIM_REGISTER_NUMBERS;

	for (uint32_t i = 0; i < VICTIM_REGISTERS; i++) {
		try_form(FORM_REGISTER, numbers[i]);
		if (i < 2 * SEARCHED)
			search(FORM_REGISTER, numbers[i], i);
	}
}

static void try_switch(uint64_t rule)
{
	struct plan plan = plan_for(FORM_SWITCH, victim.slot[0]);
	struct answer answer;

	plan.leaf = rule;
	answer = ask(&plan);
	crossed += answer.here && answer.frames > 1;
	refused += answer.here && answer.frames <= 1;
}

/* From the leaf to each word, by each way on which Go changes stacks. */
static void attack_by_switches(void)
{
	for (uint32_t kind = 0; kind < SECRET_KINDS; kind++) {
		for (uint32_t i = 0; i < VICTIM_SLOTS; i++) {
			const uint64_t address = victim.slot[kind] + 16 * i;

			for (uint32_t way = GO_SWITCH_SYSTEM; way <= GO_SWITCH_INTERRUPTED; way++)
				try_switch(switch_rule((enum go_switch)way, address, 0));
			try_form(FORM_SWITCHED, address);
		}
	}
}

/* Words that are no offset of a goroutine, and offsets at which there is none. */
static void attack_without_goroutine(void)
{
	for (uint32_t i = 1; i <= OFFSETS; i++) {
		const int64_t at = -8 * (int64_t)i;
		const uint64_t word = victim.nodes + sizeof(struct secret_node) * i - 8;
		const uint32_t operands = GO_SWITCH_OPERANDS(1u, LAYOUT, 0u, 0u);

		if ((uint64_t)at != victim.thread_local_at)
			try_switch(RULE_MAKE(RULE_SWITCH, GO_SWITCH_SYSTEM, operands, at, 0));
		try_switch(RULE_MAKE(RULE_SWITCH, GO_SWITCH_SYSTEM, operands | GO_SWITCH_IN_WORD,
				     (int64_t)(word - victim.leaf) / 8, 0));
	}
}

/* A library's rule names a word that has the offset. */
static void attack_by_word(void)
{
	const int64_t word = (int64_t)(victim.thread_local_word - victim.leaf) / 8;

	for (uint32_t i = 0; i < VICTIM_SLOTS; i++) {
		const uint32_t words =
			(uint32_t)(victim.slot[SECRET_CALLED] + 16 * i - victim.slot[0]) / 8;

		try_switch(
			RULE_MAKE(RULE_SWITCH, GO_SWITCH_SYSTEM,
				  GO_SWITCH_OPERANDS(words & 255, LAYOUT, 0, 0) | GO_SWITCH_IN_WORD,
				  word, 0));
	}
}

static void say_switches(const char *name)
{
	fprintf(stderr, "S %s %" PRIu64 " %" PRIu64 "\n", name, crossed, refused);
	crossed = refused = 0;
}

static void attack_switches(void)
{
	attack_without_goroutine();
	say_switches("none");
	attack_by_word();
	say_switches("word");
	attack_by_switches();
	say_switches("all");
}

static void search_slots(void)
{
	for (uint32_t i = 0; i < SEARCHED; i++) {
		search(FORM_SWITCH, victim.slot[SECRET_SMALL] + 16 * i, i);
		search(FORM_SP, victim.slot[SECRET_SMALL] + 16 * i, i);
		search(FORM_SAVED, victim.slot[SECRET_SMALL] + 16 * i, i);
		search(FORM_SP, victim.slot[SECRET_RANDOM] + 16 * i, VICTIM_SLOTS + i);
	}
}

/* A run of return addresses, as many as one sample can take. */
static void read_all(void)
{
	struct plan plan = plan_for(FORM_LONG, victim.code);
	uint64_t begun = time_now(), frames = 0, records = 0;

	do {
		struct answer answer = ask(&plan);

		frames += answer.here ? answer.frames : 0;
		records += answer.here;
	} while (time_now() < begun + LONG_NS);
	fprintf(stderr, "F %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", frames, records,
		time_now() - begun);
}

/* ---- phases ---- */

static void begin(const char *name)
{
	controls = 0;
	phase_begun = time_now();
	fprintf(stderr, "P %s\n", name);
}

static void end(const char *name)
{
	struct answer none = {.here = true};
	uint64_t now = time_now();

	drain(UINT64_MAX, FORM_SP, &none);
	fprintf(stderr, "C %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", name, controls, phase_begun,
		now);
}

static void wait_idle(uint64_t until)
{
	struct answer none = {.here = true};

	while (time_now() < until || !generation) {
		poll(NULL, 0, 1);
		drain(UINT64_MAX, FORM_SP, &none);
		obey();
	}
}

static _Noreturn void attack(void)
{
	begin("idle");
	wait_idle(time_now() + IDLE_NS);
	end("idle");
	write_common();
	begin("attack");
	attack_slots();
	attack_registers();
	attack_switches();
	search_slots();
	read_all();
	end("attack");
	fprintf(stderr, "P done\n");
	while (true) {
		poll(NULL, 0, 100);
		obey();
	}
}

int main(void)
{
	setvbuf(stderr, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(victim); i++)
		((char *)&victim)[i] = ((const volatile char *)&written.victim)[i];
	seen = map_new();
	if (!seen)
		return 1;
	taken_over_begin(&loader, &regions, rings);
	attack();
}
