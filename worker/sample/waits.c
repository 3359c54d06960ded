/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sample/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/map.h"
#include "ipc/time.h"

#define TID_BITS PROCESS_PID_BITS

/* A record that awaits its event. */
struct begun {
	struct waits_stack stack; /* locations: owned */
	uint64_t left;		  /* CLOCK_MONOTONIC, ns: when the wait began */
	uint64_t counted;	  /* the same: until when the time is in a profile */
	uint32_t profile;	  /* number of the profile that the sample is of */
};

struct waits {
	struct waits_parts parts;
	struct waits_counts counts;
	struct map *begun;  /* struct begun by key_of() */
	struct map *latest; /* by thread: the struct begun that is in `begun` */
	struct map *ended;  /* struct event_wait by key_of() */
	uint32_t profile;   /* counts profiles */
	uint64_t looked;    /* for old events, last */
	uint64_t lost_at;   /* CLOCK_MONOTONIC, ns: when BPF lost an event, last */
	uint64_t told;	    /* the same: all events until then have been taken */
	double variance;    /* us^2: of counts.ns */
};

struct waits *waits_new(const struct waits_parts *parts)
{
	struct waits *waits = calloc(1, sizeof(*waits));

	if (!waits)
		return NULL;
	waits->parts = *parts;
	waits->begun = map_new();
	waits->latest = map_new();
	waits->ended = map_new();
	if (waits->begun && waits->latest && waits->ended)
		return waits;
	waits_free(waits);
	return NULL;
}

static void free_begun(struct begun *begun)
{
	free(begun->stack.locations);
	free(begun);
}

static void free_all(struct waits *waits)
{
	size_t cursor = 0;
	uint64_t key;
	void *value;

	while (waits->begun && map_next(waits->begun, &cursor, &key, &value))
		free_begun(value);
	cursor = 0;
	while (waits->ended && map_next(waits->ended, &cursor, &key, &value))
		free(value);
}

void waits_free(struct waits *waits)
{
	if (!waits)
		return;
	free_all(waits);
	map_free(waits->begun);
	map_free(waits->latest);
	map_free(waits->ended);
	free(waits);
}

/* Two waits with one key are so unlikely that the second one counts as lost. */
static uint64_t key_of(uint64_t began, uint32_t tid)
{
	return began << TID_BITS | tid;
}

/* ---- why threads wait ---- */

/* The system calls whose wait has a name of its own. */
static const struct {
	uint16_t call, state;
} calls[] = {
#ifdef __x86_64__
	{SYS_nanosleep, STATE_SLEEP},
	{SYS_clock_nanosleep, STATE_SLEEP},
	{SYS_pause, STATE_SLEEP},
	{SYS_rt_sigsuspend, STATE_SLEEP},
	{SYS_futex, STATE_LOCK},
	{449 /* futex_waitv */, STATE_LOCK},
	{455 /* futex_wait */, STATE_LOCK},
	{SYS_flock, STATE_LOCK},
	{SYS_fcntl, STATE_LOCK},
	{SYS_semop, STATE_LOCK},
	{SYS_semtimedop, STATE_LOCK},
	{SYS_read, STATE_IO},
	{SYS_write, STATE_IO},
	{SYS_readv, STATE_IO},
	{SYS_writev, STATE_IO},
	{SYS_pread64, STATE_IO},
	{SYS_pwrite64, STATE_IO},
	{SYS_preadv, STATE_IO},
	{SYS_pwritev, STATE_IO},
	{SYS_recvfrom, STATE_IO},
	{SYS_recvmsg, STATE_IO},
	{SYS_recvmmsg, STATE_IO},
	{SYS_sendto, STATE_IO},
	{SYS_sendmsg, STATE_IO},
	{SYS_sendfile, STATE_IO},
	{SYS_splice, STATE_IO},
	{SYS_accept, STATE_IO},
	{SYS_accept4, STATE_IO},
	{SYS_connect, STATE_IO},
	{SYS_fsync, STATE_IO},
	{SYS_fdatasync, STATE_IO},
	{SYS_sync, STATE_IO},
	{SYS_syncfs, STATE_IO},
	{SYS_msync, STATE_IO},
	{SYS_poll, STATE_POLL},
	{SYS_ppoll, STATE_POLL},
	{SYS_select, STATE_POLL},
	{SYS_pselect6, STATE_POLL},
	{SYS_epoll_wait, STATE_POLL},
	{SYS_epoll_pwait, STATE_POLL},
	{441 /* epoll_pwait2 */, STATE_POLL},
	{SYS_io_getevents, STATE_POLL},
	{426 /* io_uring_enter */, STATE_POLL},
	{SYS_rt_sigtimedwait, STATE_POLL},
	{SYS_wait4, STATE_CHILD},
	{SYS_waitid, STATE_CHILD},
	{SYS_vfork, STATE_CHILD},
#endif
	{OFF_NO_CALL, STATE_WAIT},
};

static uint32_t state_of_call(uint32_t call)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].call == call)
			return calls[i].state;
	return STATE_WAIT;
}

uint32_t waits_state(u64 word)
{
	switch (OFF_STATE(word)) {
	case OFF_PREEMPTED:
		return STATE_PREEMPTED;
	case OFF_IO:
		return STATE_IO;
	case OFF_STOPPED:
		return STATE_STOPPED;
	default:
		return state_of_call(OFF_CALL(word));
	}
}

/* ---- time ---- */

/* Returns the probability of the stack in 2^-32. BPF writes no 0, which would divide by 0. */
static uint32_t probability_of(u64 word)
{
	if (!OFF_PROBABILITY(word))
		return 1;
	return OFF_PROBABILITY(word);
}

/* Returns a number divided by the probability of the stack. */
static uint64_t weigh(uint64_t number, u64 word)
{
	unsigned __int128 weighed = number;

	if (probability_of(word) == OFF_CERTAIN)
		return number;
	weighed = (weighed << 32) / probability_of(word);
	if (weighed > UINT64_MAX)
		return UINT64_MAX;
	return (uint64_t)weighed;
}

static void note_probability(struct waits *waits, u64 word)
{
	const uint32_t probability = OFF_PROBABILITY(word);
	uint32_t *least = &waits->counts.least_probability;

	if (*least == 0 || probability < *least)
		*least = probability;
}

/*
 * Notes by how much the time of a wait may be wrong, as it stands for those without a stack. This
 * is the variance of the Horvitz-Thompson estimator. before, now: ns of the wait that count.
 */
static void note_variance(struct waits *waits, u64 word, uint64_t before, uint64_t now)
{
	const double chance = probability_of(word) / 0x1p32;
	const double was = (double)before / NS_PER_US, is = (double)now / NS_PER_US;

	if (probability_of(word) != OFF_CERTAIN)
		waits->variance += (1 - chance) / (chance * chance) * (is * is - was * was);
}

static uint64_t root_of(uint64_t square)
{
	uint64_t root = 0;

	for (uint64_t bit = 1ull << 31; bit > 0; bit >>= 1)
		if ((root | bit) * (root | bit) <= square)
			root |= bit;
	return root;
}

/* Counts the time of a wait until now. end NULL: the wait goes on. */
static void count(struct waits *waits, struct begun *begun, const struct event_wait *end,
		  uint64_t now)
{
	const struct waits_stack *stack = &begun->stack;
	uint64_t ns, times = 0;

	/* the sampler's own time is no part of the wait */
	if (end && begun->counted == stack->head.time)
		begun->counted = begun->left = end->left;
	if (stack->left_out || now <= begun->counted)
		return;
	if (now - begun->left < waits->parts.least) {
		waits->counts.shorter += end != NULL;
		return;
	}
	ns = weigh(now - begun->counted, stack->word);
	if (begun->counted == begun->left) {
		times = weigh(PROFILE_WAITS_ONE, stack->word);
		waits->counts.waits++;
		note_probability(waits, stack->word);
	}
	waits->counts.ns += ns;
	note_variance(waits, stack->word, begun->counted - begun->left, now - begun->left);
	begun->counted = now;
	waits->parts.take(waits->parts.context, stack, end, ns, times,
			  begun->profile != waits->profile);
}

/* ---- both halves ---- */

static void remove_begun(struct waits *waits, struct begun *begun)
{
	const struct record *head = &begun->stack.head;

	map_remove(waits->begun, key_of(head->time, head->tid));
	if (map_get(waits->latest, head->tid) == begun)
		map_remove(waits->latest, head->tid);
	free_begun(begun);
}

static void lose(struct waits *waits, struct begun *begun)
{
	waits->counts.lost += !begun->stack.left_out;
	remove_begun(waits, begun);
}

static struct begun *copy_of(const struct waits_stack *stack)
{
	struct begun *begun = calloc(1, sizeof(*begun));
	const size_t bytes = stack->depth * sizeof(*stack->locations);

	if (!begun)
		return NULL;
	begun->stack = *stack;
	begun->counted = begun->left = stack->head.time;
	begun->stack.locations = malloc(bytes + 1);
	if (!begun->stack.locations) {
		free(begun);
		return NULL;
	}
	memcpy(begun->stack.locations, stack->locations, bytes);
	return begun;
}

/* Keeps a record until its event comes. A record of the thread that is there has lost its own. */
static int keep(struct waits *waits, struct begun *begun)
{
	const struct record *head = &begun->stack.head;
	struct begun *before = map_get(waits->latest, head->tid);

	if (before && before->stack.head.time > head->time)
		return -ESTALE;
	if (before)
		lose(waits, before);
	if (map_count(waits->begun) >= WAITS_MAX)
		return -ENOSPC;
	if (map_get(waits->begun, key_of(head->time, head->tid)))
		return -EEXIST;
	if (map_put(waits->begun, key_of(head->time, head->tid), begun) < 0)
		return -ENOMEM;
	if (map_put(waits->latest, head->tid, begun) == 0)
		return 0;
	map_remove(waits->begun, key_of(head->time, head->tid));
	return -ENOMEM;
}

static bool is_end_of(const struct event_wait *end, const struct record *head)
{
	return end->began == head->time && end->tid == head->tid;
}

/* Returns the event of a record, which the caller frees, or NULL. */
static struct event_wait *take_event(struct waits *waits, const struct record *head)
{
	struct event_wait *end = map_remove(waits->ended, key_of(head->time, head->tid));

	if (!end || is_end_of(end, head))
		return end;
	free(end);
	waits->counts.lost++;
	return NULL;
}

int waits_begin(struct waits *waits, const struct waits_stack *stack)
{
	struct event_wait *end = take_event(waits, &stack->head);
	struct begun *begun = copy_of(stack);

	if (begun)
		begun->profile = waits->profile;
	if (begun && end) {
		count(waits, begun, end, end->event.time);
		free_begun(begun);
	} else if (begun && keep(waits, begun) < 0) {
		waits->counts.lost += !stack->left_out;
		free_begun(begun);
	}
	free(end);
	return begun ? 0 : -ENOMEM;
}

/* BPF writes events. Checks bound what a wrong one does all the same. */
static bool is_well_formed(const struct event_wait *event)
{
	return event->tid != 0 && event->tid <= PROCESS_PID_MAX &&
	       event->event.pid <= PROCESS_PID_MAX && event->began <= event->left &&
	       event->left <= event->event.time && event->woken <= event->event.time &&
	       event->waker < WAKERS && event->waker_pid <= PROCESS_PID_MAX &&
	       event->waker_tid <= PROCESS_PID_MAX;
}

static void keep_event(struct waits *waits, const struct event_wait *event)
{
	const uint64_t key = key_of(event->began, event->tid);
	struct event_wait *copy = NULL;

	if (map_count(waits->ended) < WAITS_MAX && !map_get(waits->ended, key))
		copy = malloc(sizeof(*copy));
	if (copy)
		*copy = *event;
	if (copy && map_put(waits->ended, key, copy) == 0)
		return;
	free(copy);
	waits->counts.lost++;
}

void waits_end(struct waits *waits, const struct event_wait *event)
{
	struct event_wait end = *event;
	struct begun *begun;

	if (!is_well_formed(event)) {
		waits->counts.lost++;
		return;
	}
	end.waker_name[sizeof(end.waker_name) - 1] = '\0';
	if (end.lost_at > waits->lost_at)
		waits->lost_at = end.lost_at;
	begun = map_get(waits->begun, key_of(end.began, end.tid));
	if (!begun || !is_end_of(&end, &begun->stack.head)) {
		keep_event(waits, &end);
		return;
	}
	count(waits, begun, &end, end.event.time);
	remove_begun(waits, begun);
}

void waits_turn(struct waits *waits, uint64_t now)
{
	size_t cursor = 0;
	uint64_t key;
	void *value;

	if (now < waits->looked + WAITS_EVENT_FOR / 4)
		return;
	waits->looked = now;
	while (map_next(waits->ended, &cursor, &key, &value)) {
		struct event_wait *event = value;

		if (event->event.time + WAITS_EVENT_FOR > now)
			continue;
		map_remove(waits->ended, key);
		free(event);
		waits->counts.lost++;
	}
}

/* ---- windows and the end ---- */

/*
 * Counts open waits. A process that has exited lost the event of its thread. Where the event may be
 * lost, the wait counts once it comes.
 */
static void count_open(struct waits *waits, uint64_t now, bool is_end)
{
	size_t cursor = 0;
	uint64_t key;
	void *value;

	while (map_next(waits->begun, &cursor, &key, &value)) {
		struct begun *begun = value;
		const bool may_be_over = begun->stack.head.time <= waits->lost_at;

		if (!waits->parts.is_alive(waits->parts.context, &begun->stack.head) ||
		    (is_end && may_be_over)) {
			lose(waits, begun);
			continue;
		}
		if (!may_be_over)
			count(waits, begun, NULL, now);
		if (!is_end)
			continue;
		waits->counts.open += !begun->stack.left_out;
		remove_begun(waits, begun);
	}
}

void waits_told_until(struct waits *waits, uint64_t time)
{
	if (time > waits->told)
		waits->told = time;
}

void waits_close_window(struct waits *waits)
{
	count_open(waits, waits->told, false);
}

void waits_begin_profile(struct waits *waits, bool keeps_locations)
{
	size_t cursor = 0;
	uint64_t key;
	void *value;

	waits->profile++;
	while (!keeps_locations && map_next(waits->begun, &cursor, &key, &value))
		lose(waits, value);
}

void waits_finish(struct waits *waits, uint64_t now)
{
	count_open(waits, now, true);
}

void waits_counts(const struct waits *waits, struct waits_counts *ret_counts)
{
	*ret_counts = waits->counts;
	if (waits->variance < 0x1p64)
		ret_counts->error = root_of((uint64_t)waits->variance) * NS_PER_US;
	else
		ret_counts->error = UINT64_MAX;
}
