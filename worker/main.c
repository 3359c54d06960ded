/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-worker: start, event loop, end. The worker makes or receives all it needs before the
 * first byte of a target comes; from then on the worker can open nothing.
 */
#include <errno.h>
#include <limits.h>
#include <event2/event.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/loop.h"
#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/time.h"
#include "policy/policy.h"
#include "worker/account/teller.h"
#include "worker/delivery.h"
#include "worker/files.h"
#include "worker/process/budget.h"
#include "worker/process/parser.h"
#include "worker/regions.h"
#include "worker/session.h"
#include "worker/totals.h"
#include "worker/work.h"
#include "worker/kernel/kernel_symbols.h"
#include "worker/kernel/kernel_version.h"
#include "worker/made/names.h"
#include "worker/target/lanes.h"
#include "worker/naming/debug_peer.h"
#include "worker/vdso.h"

#define SPREAD_PARTS   5 /* windows for a server are late by up to one of so many parts */
#define LOADER_FD      3
#define START_MS       INT_MAX		 /* loading may take long; the end of the loader is seen */
#define SETTLE_NS      (300 * NS_PER_MS) /* for answers that samples still need */
#define FINISH_POLL_MS 5
#define TURN_GAP       (5 * NS_PER_MS)	   /* between turns while events come */
#define ANSWER_GAP     (1 * NS_PER_MS)	   /* the same while answers come: a turn asks again */
#define BLAMED_MAX     10		   /* lines a minute: users can make groups at will */
#define DRAFTS_NS      (2 * NS_PER_SECOND) /* then no other: the profile is large */
#ifndef OBJECT_DESCRIPTORS_MAX
#define OBJECT_DESCRIPTORS_MAX 4096
#endif
#ifndef DESCRIPTORS_OWN
#define DESCRIPTORS_OWN (64 + MADE_FILES_MAX) /* kept for descriptors other than objects */
#endif

struct worker {
	struct channel loader;
	struct delivery delivery;
	struct files files;
	struct regions regions;
	struct lanes *lanes;
	struct parser *parser;
	struct kernel_symbols *symbols;
	struct session *session;
	struct event_base *base;
	struct event *timer;
	struct event *windows;	      /* of a stream, or NULL */
	struct event *answers[LANES]; /* of the brokers; NULL: there is no broker */
	unsigned int blamed;	      /* lines about processes that hung a broker, in this minute */
	uint64_t blamed_until;	      /* end of that minute */
	/* one-shot: a turn that finds nothing new adds them again; those of the side-band last */
	struct event **wakers;
	size_t waker_count;
	uint64_t last_turn, last_progress;
	uint64_t promised; /* the time of a turn, to BPF */
	uint64_t quiet;	   /* until then, the side-band wakes nobody */
	bool roused;	   /* by the side-band, since the last turn */
	uint64_t longest;  /* ns of one event, before the finish */
	struct message_stop stop;
	unsigned int drafts;
	uint64_t draft_time; /* ns, of all drafts */
	size_t descriptors;
	char kernel[KERNEL_VERSION_BYTES];
	int result;
};

/* ---- start ---- */

/* Returns how many objects may stay open: the policy's limit and the inherited one hold. */
static size_t object_descriptors(void)
{
	struct rlimit limit;
	size_t most = OBJECT_DESCRIPTORS_MAX;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < most)
		most = limit.rlim_max;
	if (most <= 2 * DESCRIPTORS_OWN)
		return DESCRIPTORS_OWN;
	return most - DESCRIPTORS_OWN;
}

/* Makes everything that a confined process cannot make. */
static int prepare(struct worker *worker)
{
	int r;

	/* One arena is enough for two threads; large tables go back to the kernel. */
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
	regions_init(&worker->regions, (size_t)sysconf(_SC_PAGESIZE));
	worker->descriptors = object_descriptors();
	kernel_version_get(worker->kernel);
	worker->base = loop_new();
	if (!worker->base)
		return -ENOMEM;
	r = files_make(&worker->files);
	if (r < 0)
		return r;
	return parser_new(budget_new(), &worker->parser);
}

static int confine(struct worker *worker)
{
	struct policy_layers layers;

	policy_confine(ROLE_WORKER, &layers);
	return channel_send_ready(&worker->loader, layers.lacking, layers.proven);
}

static void set_log_level(const struct message_config *config)
{
	if (config->flags & OPTIONS_VERBOSE)
		log_init("keyhole-worker", LOG_LEVEL_DEBUG);
	else
		log_init("keyhole-worker", LOG_LEVEL_WARNING);
}

static int take_start_message(struct worker *worker, struct message *message)
{
	switch (message->head.type) {
	case MESSAGE_CONFIG:
		set_log_level(&message->CONFIG);
		return regions_configure(&worker->regions, &message->CONFIG);
	case MESSAGE_DESCRIPTOR:
		return regions_add(&worker->regions, &message->DESCRIPTOR, take_fd(&message->fd));
	case MESSAGE_START:
		return regions_complete(&worker->regions);
	default:
		return -EPROTO;
	}
}

static int receive_start(struct worker *worker)
{
	bool started = false;

	while (!started) {
		struct message message;
		int r = channel_wait(&worker->loader, START_MS, &message);

		if (r < 0)
			return r;
		r = take_start_message(worker, &message);
		started = message.head.type == MESSAGE_START;
		message_release(&message);
		if (r < 0)
			return r;
	}
	return 0;
}

static void read_symbols(struct worker *worker)
{
	int r;

	if (worker->regions.symbols_fd < 0)
		return;
	r = kernel_symbols_new(worker->regions.symbols_fd, &worker->symbols);
	if (r < 0)
		log_warning("kernel symbols: %s", strerror(-r));
	close(take_fd(&worker->regions.symbols_fd));
}

static void save_draft(void *argument);

/*
 * A failure shows again, and is handled, in on_loader(). At the end of a recording the worker gets
 * no other broker.
 */
static void complain(void *context, const struct message_stuck *stuck)
{
	struct worker *worker = context;

	if (worker->loader.phase == PHASE_FINISH)
		return;
	channel_send(&worker->loader, MESSAGE_BROKER_STUCK, stuck, sizeof(*stuck), -1);
}

static void blame(void *context, const struct target_process *process, uint64_t nanoseconds)
{
	struct worker *worker = context;
	char name[SESSION_NAME_BYTES] = "";

	if (time_now() >= worker->blamed_until) {
		worker->blamed_until = time_now() + 60 * NS_PER_SECOND;
		worker->blamed = 0;
	}
	if (worker->blamed++ >= BLAMED_MAX)
		return;
	session_name_process(worker->session, process->pid, name);
	if (name[0] == '\0') /* the process has had its name since before the start */
		name[0] = '?';
	log_warning("broker: process %u (%s) of user %u let keyhole-broker wait for %llu ms; "
		    "requests about its group wait apart for a minute",
		    process->pid, name, process->group.uid,
		    (unsigned long long)(nanoseconds / NS_PER_MS));
}

static int make_session(struct worker *worker)
{
	struct session_parts parts = {
		.descriptors = worker->descriptors,
		.parser = worker->parser,
		.clock = time_now,
		.kernel = worker->kernel,
		.draft = save_draft,
		.draft_context = worker,
	};
	const struct lanes_parts lanes_parts = {
		.clock = time_now,
		.complain = complain,
		.blame = blame,
		.context = worker,
	};
	int r;

	worker->lanes = lanes_new(&lanes_parts, take_fd(&worker->regions.broker_fd));
	if (!worker->lanes)
		return -ENOMEM;
	read_symbols(worker);
	if (worker->regions.debug_fd >= 0)
		parts.debug_files =
			debug_peer_new(take_fd(&worker->regions.debug_fd), &worker->files.lines);
	parts.target = lanes_target(worker->lanes);
	parts.symbols = worker->symbols;
	parts.vdso = vdso_image(&parts.vdso_bytes);
	regions_describe(&worker->regions, &parts);
	r = session_new(&parts, &worker->session);
	if (r < 0)
		return r;
	r = regions_give_segments(&worker->regions, worker->session);
	if (r < 0)
		return r;
	delivery_init(&worker->delivery, worker->session, &worker->files);
	return delivery_connect(&worker->delivery, take_fd(&worker->regions.exporter_fd));
}

/* ---- running ---- */

static void schedule(struct event *timer, uint64_t in)
{
	const struct timeval wait = {
		.tv_sec = (time_t)(in / NS_PER_SECOND),
		.tv_usec = (suseconds_t)(in % NS_PER_SECOND / 1000),
	};

	event_add(timer, &wait);
}

static void progress(struct worker *worker, uint64_t now)
{
	struct message_progress message;

	if (now < worker->last_progress + NS_PER_SECOND)
		return;
	worker->last_progress = now;
	session_progress(worker->session, &message);
	channel_send(&worker->loader, MESSAGE_PROGRESS, &message, sizeof(message), -1);
}

static void measure(struct worker *worker, uint64_t began)
{
	uint64_t took = time_now() - began;

	if (took > worker->longest)
		worker->longest = took;
	lanes_spend(worker->lanes, took);
}

static void on_answer(int fd, short what, void *argument);

static int connect_broker(struct worker *worker, enum broker_lane lane)
{
	const int fd = lanes_fd(worker->lanes, lane);
	struct event *answers;

	if (fd < 0)
		return 0;
	answers = event_new(worker->base, fd, EV_READ | EV_PERSIST, on_answer, worker);
	worker->answers[lane] = answers;
	if (!answers || event_add(answers, NULL) < 0)
		return -ENOMEM;
	return 0;
}

static void forget_broker(struct worker *worker, enum broker_lane lane)
{
	if (worker->answers[lane])
		event_free(worker->answers[lane]);
	worker->answers[lane] = NULL;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

/*
 * Returns whether the side-band stays quiet until the next turn. The kernel tells of each thread
 * that begins or ends: a look every TURN_GAP costs less than a wake-up for each. Where some
 * processes are wanted, records of others alone keep no turn coming.
 */
static bool wants_quiet(const struct worker *worker)
{
	if (!session_is_noisy(worker->session))
		return false;
	return worker->roused || !(worker->regions.config.flags & OPTIONS_FEW);
}

/* Adds those that no turn has added since they fired. */
static void add_fired_wakers(struct worker *worker)
{
	size_t count = worker->waker_count;

	if (worker->last_turn < worker->quiet)
		count -= worker->regions.sideband_count;
	for (size_t i = 0; i < count; i++)
		event_add(worker->wakers[i], NULL);
}

/*
 * Returns the time to the next turn. Turns that find events need no waker, whose system calls cost
 * more than a look. Until a turn that was promised, events come without a wake-up. So the wakers
 * are added after that time alone: a waker sees what has come before.
 */
static uint64_t wait_for_events(struct worker *worker, uint64_t wait)
{
	uint64_t now = worker->last_turn;

	if (session_is_busy(worker->session)) {
		worker->promised = now + 2 * TURN_GAP; /* a turn takes time */
		session_promise_turn(worker->session, worker->promised);
	}
	if (now < worker->promised)
		return at_most(wait, TURN_GAP);
	if (wants_quiet(worker))
		worker->quiet = now + TURN_GAP;
	worker->roused = false;
	if (now < worker->quiet)
		wait = at_most(wait, worker->quiet - now);
	add_fired_wakers(worker);
	/* a broker's deadline passes at a turn */
	return at_most(wait, lanes_wait(worker->lanes));
}

static int send_to_exporter(void *context, enum message_type type, const void *payload,
			    uint32_t size)
{
	struct worker *worker = context;

	return channel_send(&worker->delivery.exporter, type, payload, size, -1);
}

/* An exporter that is gone has a successor, which gets more. */
static void tell_accounts(struct worker *worker)
{
	const struct teller_channel channel = {send_to_exporter, worker};
	int r = session_tell_accounts(worker->session, &channel);

	if (r == -ENOMEM)
		log_warning("accounts: %s", strerror(-r));
}

static void on_turn(int fd, short what, void *argument)
{
	struct worker *worker = argument;
	uint64_t began = time_now(), wait = session_turn(worker->session);

	(void)fd;
	(void)what;
	lanes_turn(worker->lanes);
	tell_accounts(worker);
	worker->last_turn = time_now();
	progress(worker, worker->last_turn);
	schedule(worker->timer, wait_for_events(worker, wait));
	measure(worker, began);
}

static void turn_soon(struct worker *worker)
{
	uint64_t now = time_now(), due = worker->last_turn + ANSWER_GAP, wait = 0;

	if (due > now)
		wait = due - now;
	schedule(worker->timer, wait);
}

static void on_wake(int fd, short what, void *argument)
{
	(void)fd;
	(void)what;
	turn_soon(argument);
}

static void on_sideband(int fd, short what, void *argument)
{
	struct worker *worker = argument;

	(void)fd;
	(void)what;
	worker->roused = true;
	turn_soon(worker);
}

static void receive(struct worker *worker, enum broker_lane lane)
{
	int r = lanes_receive(worker->lanes, lane);

	if (r >= 0)
		return;
	log_info("broker: requests: %s", strerror(-r));
	/* Known answers stay usable. The next turn asks for another broker, if need be. */
	forget_broker(worker, lane);
}

static void on_answer(int fd, short what, void *argument)
{
	struct worker *worker = argument;
	uint64_t began = time_now();
	enum broker_lane lane = LANE_ORDINARY;

	(void)what;
	if (fd == lanes_fd(worker->lanes, LANE_PENAL))
		lane = LANE_PENAL;
	receive(worker, lane);
	measure(worker, began);
	turn_soon(worker);
}

/* Gives a new broker the open requests; at the end of a recording the worker asks no broker. */
static int replace_broker(struct worker *worker, uint32_t lane, int fd)
{
	int r;

	if (worker->loader.phase == PHASE_FINISH)
		return close(fd);
	for (int old = 0; old < LANES; old++)
		forget_broker(worker, (enum broker_lane)old);
	lanes_replace(worker->lanes, (enum broker_lane)lane, fd);
	r = connect_broker(worker, LANE_ORDINARY);
	if (r < 0)
		return r;
	turn_soon(worker);
	return connect_broker(worker, LANE_PENAL);
}

static int replace_peer(struct worker *worker, struct message *message)
{
	switch (message->DESCRIPTOR.kind) {
	case DESCRIPTOR_BROKER:
		if (message->DESCRIPTOR.index > LANE_DEMOTING)
			return -EPROTO;
		return replace_broker(worker, message->DESCRIPTOR.index, take_fd(&message->fd));
	case DESCRIPTOR_EXPORTER:
		return delivery_connect(&worker->delivery, take_fd(&message->fd));
	default:
		return -EPROTO;
	}
}

static void finish(struct worker *worker);

static void on_loader(int fd, short what, void *argument)
{
	struct worker *worker = argument;
	struct message message;
	int r = channel_receive(&worker->loader, &message);

	(void)fd;
	(void)what;
	if (r == 0)
		return;
	if (r > 0 && message.head.type == MESSAGE_STOP) {
		worker->stop = message.STOP;
		finish(worker);
		return;
	}
	if (r > 0 && message.head.type == MESSAGE_DESCRIPTOR && !replace_peer(worker, &message))
		return;
	if (r != -EPIPE)
		worker->result = -EPROTO;
	event_base_loopbreak(worker->base);
}

static int add_waker(struct worker *worker, int fd, event_callback_fn on_ready)
{
	struct event *waker = event_new(worker->base, fd, EV_READ, on_ready, worker);

	if (!waker || event_add(waker, NULL) < 0)
		return -ENOMEM;
	worker->wakers[worker->waker_count++] = waker;
	return 0;
}

static int add_wakers(struct worker *worker)
{
	const struct regions *regions = &worker->regions;
	int r;

	worker->wakers = calloc(regions->sideband_count + 2, sizeof(struct event *));
	if (!worker->wakers)
		return -ENOMEM;
	r = connect_broker(worker, LANE_ORDINARY);
	if (r == 0)
		r = add_waker(worker, regions->event_fd, on_wake);
	if (r == 0)
		r = add_waker(worker, parser_fd(worker->parser), on_wake);
	for (size_t i = 0; i < regions->sideband_count && r == 0; i++)
		r = add_waker(worker, regions->sideband_fds[i], on_sideband);
	return r;
}

/* Sends what the worker has counted. An exporter that is gone has a successor, which gets more. */
static void tell_work(struct worker *worker)
{
	struct message_work work;

	if (!(worker->regions.config.flags & OPTIONS_METRICS))
		return;
	work_count(worker->session, worker->lanes, &worker->delivery, &work);
	channel_send(&worker->delivery.exporter, MESSAGE_WORK, &work, sizeof(work), -1);
}

/* Ends a window of a stream, in a few goes with turns in between. */
static void on_window(int fd, short what, void *argument)
{
	struct worker *worker = argument;
	const uint64_t sent = worker->delivery.sent;
	uint64_t began = time_now(), wait;
	int r = delivery_window(&worker->delivery, &wait);

	(void)fd;
	(void)what;
	if (r == 0 && worker->delivery.sent > sent)
		tell_work(worker);
	measure(worker, began);
	if (r == 0) {
		schedule(worker->windows, wait);
		return;
	}
	log_error("profile: write: %s", strerror(-r));
	worker->result = r;
	event_base_loopbreak(worker->base);
}

static int start_windows(struct worker *worker)
{
	const uint64_t every = worker->regions.config.every * NS_PER_SECOND;
	uint64_t spread = 0;

	if (every == 0)
		return 0;
	if (worker->regions.config.flags & OPTIONS_AGENT)
		spread = every / SPREAD_PARTS;
	worker->windows = event_new(worker->base, -1, 0, on_window, worker);
	if (!worker->windows)
		return -ENOMEM;
	schedule(worker->windows, delivery_start_windows(&worker->delivery, every, spread));
	return 0;
}

static int run(struct worker *worker)
{
	struct event *loader =
		event_new(worker->base, LOADER_FD, EV_READ | EV_PERSIST, on_loader, worker);
	int r = add_wakers(worker);

	if (r == 0)
		r = start_windows(worker);
	worker->timer = event_new(worker->base, -1, 0, on_turn, worker);
	if (r < 0 || !worker->timer || !loader || event_add(loader, NULL) < 0)
		return -ENOMEM;
	r = channel_send_bare(&worker->loader, MESSAGE_RUNNING, -1);
	if (r < 0)
		return r;
	worker->loader.phase = PHASE_RUN;
	schedule(worker->timer, 0);
	if (event_base_dispatch(worker->base) < 0)
		return -EIO;
	return worker->result;
}

/* ---- end ---- */

/* Waits a little for answers that samples need. */
static void settle(struct worker *worker)
{
	uint64_t deadline = time_now() + SETTLE_NS;
	struct pollfd fds[] = {
		{.fd = lanes_fd(worker->lanes, LANE_ORDINARY), .events = POLLIN},
		{.fd = lanes_fd(worker->lanes, LANE_PENAL), .events = POLLIN},
		{.fd = parser_fd(worker->parser), .events = POLLIN},
	};

	do {
		session_turn(worker->session);
		lanes_turn(worker->lanes);
		if (!session_waiting(worker->session))
			break;
		poll(fds, LANES + 1, FINISH_POLL_MS);
		for (int lane = 0; lane < LANES; lane++)
			if (lanes_receive(worker->lanes, (enum broker_lane)lane) < 0)
				fds[lane].fd = -1;
	} while (time_now() < deadline);
}

static void stop_turns(struct worker *worker)
{
	event_del(worker->timer);
	if (worker->windows)
		event_del(worker->windows);
	for (int lane = 0; lane < LANES; lane++)
		forget_broker(worker, (enum broker_lane)lane);
	for (size_t i = 0; i < worker->waker_count; i++)
		event_del(worker->wakers[i]);
}

static int send_summary(struct worker *worker, enum message_type type)
{
	struct message_summary summary;

	session_summary(worker->session, &summary);
	summary.limit[LIMIT_requests] = lanes_refused(worker->lanes);
	return channel_send(&worker->loader, type, &summary, sizeof(summary), -1);
}

/*
 * Gives the samples to the exporter before a file of a target can end this process. Without a draft
 * the finish goes on. `keyhole why` has nothing to say yet.
 */
static void save_draft(void *argument)
{
	struct worker *worker = argument;
	const uint64_t began = time_now();
	int r;

	if (worker->regions.config.flags & (OPTIONS_WHY | OPTIONS_STAT) ||
	    worker->draft_time > DRAFTS_NS)
		return;
	r = delivery_draft(&worker->delivery, &worker->stop);
	if (r == 0)
		r = send_summary(worker, MESSAGE_DRAFTED);
	if (r < 0)
		log_warning("profile: draft: %s", strerror(-r));
	worker->drafts++;
	worker->draft_time += time_now() - began;
}

static void finish(struct worker *worker)
{
	int r;

	worker->loader.phase = PHASE_FINISH;
	worker->delivery.exporter.phase = PHASE_FINISH;
	log_info("events: the longest took %.1f ms", (double)worker->longest / NS_PER_MS);
	stop_turns(worker);
	r = product_stop(session_product(worker->session), &worker->stop);
	if (r < 0)
		log_warning("profile: note: %s", strerror(-r));
	save_draft(worker); /* of what is resolved: the rest may take a moment */
	settle(worker);
	parser_cancel(worker->parser);
	r = session_finish(worker->session);
	log_info("drafts: %u in %.1f ms", worker->drafts, (double)worker->draft_time / NS_PER_MS);
	if (r == 0)
		r = delivery_profile(&worker->delivery, &worker->stop);
	if (r < 0) {
		log_error("profile: write: %s", strerror(-r));
		worker->result = r;
		event_base_loopbreak(worker->base);
		return;
	}
	totals_log(worker->session, worker->lanes, worker->windows ? &worker->delivery : NULL);
	r = send_summary(worker, MESSAGE_SUMMARY);
	if (r < 0)
		event_base_loopbreak(worker->base);
}

int main(void)
{
	static struct worker worker;
	int r;

	log_init("keyhole-worker", LOG_LEVEL_WARNING);
	channel_init(&worker.loader, LOADER_FD, PARTY_WORKER, PARTY_LOADER);
	channel_carry_log(&worker.loader);
	r = prepare(&worker);
	if (r == 0)
		r = confine(&worker);
	if (r == 0)
		r = receive_start(&worker);
	if (r == 0)
		r = make_session(&worker);
	if (r < 0)
		log_error("worker: start: %s", strerror(-r));
	else
		r = run(&worker);
	/* exit() would free memory under the parse thread, which may be in the middle of a file. */
	_exit(r < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
}
