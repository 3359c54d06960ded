/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scribble.so, for LD_PRELOAD: makes the memory of an interpreter hostile while its program is deep
 * in functions. SCRIBBLE=SECONDS of each phase. The program calls getppid(), clock() or
 * getloadavg(). The call never returns: its thread spins in the function of a phase, and another
 * thread changes memory. All other threads stop. So nobody but a profiler follows what is changed,
 * and nothing crashes.
 *
 *   intact  nothing is changed, until SIGUSR1 comes
 *   cycle   links of lists lead back; other pointers lead to their neighbourhood
 *   wild    pointers lead anywhere: to the kernel, nowhere, between words, to other structures
 *   sizes   numbers are as large as can be
 *   torn    all of these, changed and put back as fast as the thread can
 *
 * The changes are random, and differ from round to round: a few words or a large part of all.
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#include "scribble_memory.h"

/* ---- lists ---- */

/* Returns the number of the word of a link, or that behind the last one: no such link is free. */
static size_t link_at(uint64_t node, uint64_t at)
{
	const size_t none = (size_t)state->pages * WORDS;
	const uint32_t page = node & 7 ? state->pages : page_of(node + at);
	const size_t number = page * (size_t)WORDS + (node + at) % PAGE / 8;

	return page == state->pages || state->linked[number] ? none : number;
}

/* Takes the list of all nodes that have the next one's address at an offset, if it is one. */
static void take_list(uint64_t first, uint64_t at)
{
	const size_t none = (size_t)state->pages * WORDS;
	uint32_t length = 0;

	for (uint64_t node = first; length < LINKS_LONG && link_at(node, at) < none; length++)
		node = *(uint64_t *)(node + at);
	if (length < LINKS_LIST)
		return;
	state->lists++;
	while (length-- > 0 && link_at(first, at) < none && state->links < LINKS_MAX) {
		state->linked[link_at(first, at)] = true;
		state->link[state->links++] = (struct link){
			.place = (uint64_t *)(first + at), .node = first, .list = state->lists};
		first = *(uint64_t *)(first + at);
	}
}

/* New nodes are mostly behind old ones: so lists begin at their heads. */
static void take_lists(void)
{
	for (uint32_t i = state->pages; i-- > 0;)
		for (uint32_t k = WORDS; k-- > 0;) {
			uint64_t *place = state->page[i] + k;

			if (!is_pointer(*place) || *place & 7)
				continue;
			for (uint64_t at = 0; at < NODE_BYTES; at += 8)
				take_list((uint64_t)place - at, at);
		}
}

/* ---- changes ---- */

static void change(uint64_t *place, uint64_t after)
{
	if (state->changes == CHANGES_MAX)
		return;
	state->change[state->changes++] = (struct change){place, *place, after};
	*place = after;
}

static void put_back(void)
{
	while (state->changes) {
		const struct change *last = &state->change[--state->changes];

		*last->place = last->before;
	}
}

/* Some links lead to the same node or to one of those before. */
static void change_links(void)
{
	const uint64_t part = 1 + random_below(64);

	for (uint32_t i = 0; i < state->links; i++) {
		const uint64_t back = random_below(i < 8 ? i + 1 : 8);

		if (random_below(part) == 0 && state->link[i].list == state->link[i - back].list)
			change(state->link[i].place, state->link[i - back].node);
	}
}

static uint64_t wild_value(uint64_t before)
{
	switch (random_below(12)) {
	case 0:
		return 0;
	case 1:
		return random_below(8192);
	case 2:
		return 0xffff888000000000ull + (random_word() & 0xffffffff8);
	case 3:
		return 0xffffffff81000000ull + (random_word() & 0xfffff8);
	case 4:
		return 0xffffffffff600000ull;
	case 5:
		return random_word();
	case 6:
		return ADDRESS_END - random_below(64);
	case 7:
		return ADDRESS_END + (before & 0xffffffff);
	case 8:
		return before + 1 + random_below(7);
	case 9:
		return before ^ 1ull << (12 + random_below(35));
	default:
		return (uint64_t)any_word();
	}
}

static uint64_t large_value(uint64_t before)
{
	static const uint64_t large[] = {0x7fffffff, 0x80000000, 0xffffffff, 0x10000000,
					 0x800000,   0xffff,	 0x7fff};
	const uint64_t value = large[random_below(sizeof(large) / sizeof(large[0]))];

	switch (random_below(5)) {
	case 0:
		return value;
	case 1:
		return value << 32 | (before & 0xffffffff);
	case 2:
		return value << 32 | value;
	case 3:
		return ~0ull;
	default:
		return (before & ~0xffffffffull) | value;
	}
}

static uint64_t near_pointer(uint64_t *place)
{
	const uint64_t at = (uint64_t)place % PAGE / 8;
	uint64_t *page = (uint64_t *)((uint64_t)place & ~(PAGE - 1ull));

	for (int i = 0; i < 16; i++) {
		const uint64_t word = page[(at + random_below(65) + WORDS - 32) % WORDS];

		if (is_pointer(word))
			return word;
	}
	return (uint64_t)place - random_below(NODE_BYTES);
}

static void change_word(uint64_t *place, enum phase phase)
{
	const bool pointer = is_pointer(*place);

	if (phase == PHASE_TORN)
		phase = PHASE_CYCLE + random_below(3);
	if (phase == PHASE_SIZES && !pointer && (*place || random_below(8) == 0))
		change(place, large_value(*place));
	else if (phase == PHASE_CYCLE && pointer)
		change(place, near_pointer(place));
	else if (phase == PHASE_WILD && pointer)
		change(place, wild_value(*place));
}

/* Changes memory of all kinds, or some words of the stack. */
static void change_some(enum phase phase)
{
	const uint64_t words = (uint64_t)state->pages * WORDS >> (3 + random_below(12));
	const uint64_t of_stack = 1ull << random_below(8);

	if (random_below(4) == 0) {
		for (uint64_t i = 0; i < of_stack; i++)
			change_word(stack_word(), phase);
		return;
	}
	if (phase == PHASE_CYCLE && random_below(2)) {
		change_links();
		return;
	}
	for (uint64_t i = 0; i < words + 64 && state->changes < CHANGES_MAX; i++)
		change_word(any_word(), phase);
}

static void flip(uint64_t end)
{
	while (before(end))
		for (uint32_t i = 0; i < 4096 && i < state->changes; i++) {
			const struct change *one = &state->change[random_below(state->changes)];

			*(volatile uint64_t *)one->place =
				random_below(2) ? one->before : one->after;
		}
}

static void *scribble(void *unused)
{
	(void)unused;
	state->scribbles = gettid();
	for (int phase = PHASE_INTACT; phase < PHASES; phase++) {
		uint64_t end;

		state->phase = phase;
		while (phase == PHASE_INTACT && !state->goes_on)
			usleep(10000);
		end = end_after((double)state->seconds);
		while (before(end)) {
			const uint64_t round = clock_ns(CLOCK_MONOTONIC) + ROUND_NS;

			change_some(phase);
			if (phase == PHASE_TORN)
				flip(round);
			else
				while (before(round))
					usleep(1000);
			put_back();
		}
	}
	state->phase = PHASES;
	return NULL;
}

/* ---- the thread that calls ---- */

#define SPIN(name, number)                     \
	FUNCTION void hostile_##name(void)     \
	{                                      \
		while (state->phase == number) \
			burn_rounds(1000);     \
		KEEP_FRAME();                  \
	}
SPIN(intact, PHASE_INTACT)
SPIN(cycle, PHASE_CYCLE)
SPIN(wild, PHASE_WILD)
SPIN(sizes, PHASE_SIZES)
SPIN(torn, PHASE_TORN)

/* A thread that meets what is changed stays here. The two that go on must not meet it. */
static void stay(int number)
{
	(void)number;
	if (gettid() == state->spins || gettid() == state->scribbles)
		_exit(3);
	while (true)
		pause();
}

static void go_on(int number)
{
	(void)number;
	state->goes_on = true;
}

/* Stops all threads but this one; also those that meet what is changed. */
static void stop_others(void)
{
	const int signals[] = {SIGRTMIN + 9, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
	struct sigaction action = {.sa_handler = stay, .sa_flags = SA_NODEFER};
	struct dirent *entry;
	DIR *tasks = opendir("/proc/self/task");

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
	while (tasks && (entry = readdir(tasks))) {
		const long number = strtol(entry->d_name, NULL, 10);

		if (number && number != gettid())
			syscall(SYS_tgkill, getpid(), number, SIGRTMIN + 9);
	}
	usleep(300000);
}

/* The program's own handlers do not run any more. */
static void block_signals(void)
{
	sigset_t set;

	sigfillset(&set);
	sigdelset(&set, SIGSEGV);
	sigdelset(&set, SIGBUS);
	sigdelset(&set, SIGTERM);
	sigdelset(&set, SIGUSR1);
	signal(SIGUSR1, go_on);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

static _Noreturn void begin(double seconds)
{
	pthread_attr_t attributes;
	pthread_t thread;

	state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (state == MAP_FAILED)
		_exit(1);
	state->random = 88172645463325252u;
	state->seconds = (uint64_t)seconds;
	state->low = ((uint64_t)__builtin_frame_address(0) + 16) & ~7ull;
	state->high = ADDRESS_END;
	state->control = (uint64_t)__builtin_thread_pointer();
	state->spins = gettid();
	stop_others();
	block_signals();
	take_memory();
	take_lists();
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, state->stack, sizeof(state->stack));
	if (state->pages == 0 || pthread_create(&thread, &attributes, scribble, NULL))
		_exit(1);
	dprintf(1, "ready: %u pages, %u links of %u lists\n", state->pages, state->links,
		state->lists);
	hostile_intact();
	hostile_cycle();
	hostile_wild();
	hostile_sizes();
	hostile_torn();
	_exit(0);
}

static void begin_once(void)
{
	const char *seconds = getenv("SCRIBBLE");

	if (seconds && !state)
		begin(strtod(seconds, NULL));
}

pid_t getppid(void)
{
	begin_once();
	return (pid_t)syscall(SYS_getppid);
}

int getloadavg(double loads[], int count)
{
	begin_once();
	for (int i = 0; i < count; i++)
		loads[i] = 0;
	return count;
}

clock_t clock(void)
{
	begin_once();
	return (clock_t)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000);
}
