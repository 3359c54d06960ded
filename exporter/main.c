/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-exporter: start and event loop. Copies the finished profile from the worker's memfd to
 * the output that the loader gave it; of a stream, one profile after another. Copies the worker's
 * last draft when the worker ends before the profile is finished. Where the loader named a server,
 * the profiles go there instead, and the worker never waits for the server.
 */
#include <errno.h>
#include <event2/event.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "base/loop.h"
#include "exporter/self.h"
#include "exporter/server.h"
#include "exporter/output.h"
#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "policy/policy.h"

#define LOADER_FD 3
#define START_MS  INT_MAX /* however long loading takes; the end of the loader is seen */
#define FINISH_MS 5000	  /* for what is still to be sent to a server */

/*
 * The loop runs the events of the first priority before it looks at the others. The loader sends
 * FINISH before the worker can send a draft or a profile.
 */
enum priority {
	PRIORITY_LOADER,
	PRIORITY_OUTPUT,
	PRIORITY_MESSAGES,
	PRIORITIES
};

struct exporter {
	struct channel loader, worker;
	struct output output;
	struct server server;
	struct self self;
	struct event_base *base;
	struct event *on_worker, *on_output;
	struct message draft; /* fd -1: none */
	bool is_last;	      /* the window that came last is the profile */
	bool is_ending;	      /* FINISH came: there is no other worker */
	int result;	      /* why the loop has ended, a negative errno */
};

/* ---- start ---- */

static int take_way(struct exporter *exporter, struct message *message)
{
	if (self_wants(message))
		return self_take(&exporter->self, message);
	if (message->head.type != MESSAGE_KEEPER_PEER || exporter->server.shipper)
		return server_take(&exporter->server, message);
	output_keep_by(&exporter->output, message->fd);
	return 0;
}

/* Receives messages up to PROFILE_PEER; those before it say where profiles and numbers go. */
static int receive_peer(struct exporter *exporter, struct message *ret_peer)
{
	int r;

	for (;;) {
		r = channel_wait(&exporter->loader, START_MS, ret_peer);
		if (r < 0)
			return r;
		if (ret_peer->head.type == MESSAGE_PROFILE_PEER)
			return 0;
		r = take_way(exporter, ret_peer);
		if (r < 0)
			return r;
	}
}

static int receive_start(struct exporter *exporter)
{
	struct message output, peer;
	int r = channel_expect(&exporter->loader, MESSAGE_OUTPUT, START_MS, &output);

	if (r < 0)
		return r;
	output_begin(&exporter->output, output.fd);
	if (output.OUTPUT.phase > PHASE_FINISH)
		return -EPROTO;
	r = receive_peer(exporter, &peer);
	if (r < 0)
		return r;
	channel_init(&exporter->worker, peer.fd, PARTY_EXPORTER, PARTY_WORKER);
	exporter->loader.phase = PHASE_RUN;
	exporter->worker.phase = (enum message_phase)output.OUTPUT.phase;
	return 0;
}

static void on_shipped(void *argument);
static void on_read(void *argument);

static int start(struct exporter *exporter)
{
	struct policy_layers layers;
	int r;

	exporter->draft.fd = -1;
	channel_init(&exporter->loader, LOADER_FD, PARTY_EXPORTER, PARTY_LOADER);
	log_init(message_party_name(PARTY_EXPORTER), LOG_LEVEL_INFO);
	channel_carry_log(&exporter->loader);
	/* `| head` is an error to report, not an end without a word. */
	signal(SIGPIPE, SIG_IGN);
	exporter->base = loop_new();
	if (!exporter->base || event_base_priority_init(exporter->base, PRIORITIES) < 0)
		return -ENOMEM;
	server_init(&exporter->server, exporter->base, on_read, on_shipped, exporter);
	self_init(&exporter->self, exporter->base, &exporter->server);
	credentials_prepare();
	policy_confine(ROLE_EXPORTER, &layers);
	r = channel_send_ready(&exporter->loader, layers.lacking, layers.proven);
	if (r < 0)
		return r;
	return receive_start(exporter);
}

/* ---- events ---- */

static void stop(struct exporter *exporter, int result)
{
	exporter->result = result;
	event_base_loopbreak(exporter->base);
}

static int say_written(struct exporter *exporter, int error)
{
	struct message_written written = {.error = error};

	if (error == 0 && exporter->output.bytes < UINT32_MAX)
		written.bytes = (uint32_t)exporter->output.bytes;
	else if (error == 0)
		written.bytes = UINT32_MAX;
	return channel_send(&exporter->loader, MESSAGE_WRITTEN, &written, sizeof(written), -1);
}

static void leave_worker(struct exporter *exporter)
{
	if (exporter->on_worker)
		event_del(exporter->on_worker);
}

/* Tells the loader how the export ended. From then on the exporter waits for the loader's end. */
static void conclude(struct exporter *exporter, int error)
{
	int r = say_written(exporter, error);

	leave_worker(exporter);
	event_del(exporter->on_output);
	if (r < 0)
		stop(exporter, r);
}

static void on_output(int fd, short what, void *argument)
{
	struct exporter *exporter = argument;

	(void)fd;
	(void)what;
	if (output_is_closed(&exporter->output))
		conclude(exporter, -EPIPE);
}

/* Writes a profile, a window or a draft, whose payloads are alike. */
static int append(struct exporter *exporter, struct message *message)
{
	int r = output_append(&exporter->output, message->fd, message->PROFILE.bytes);

	message_release(message);
	return r;
}

/*
 * Queues the bytes for the server. A window that finds no room is counted and told, and no error.
 * Returns whether the worker may fill its file again; else on_read() follows.
 */
static bool ship(struct exporter *exporter, struct message *message)
{
	const int r = shipper_window(exporter->server.shipper, message->fd, message->PROFILE.bytes);

	message_release(message);
	return r <= 0;
}

static void on_read(void *argument)
{
	struct exporter *exporter = argument;

	if (!exporter->is_last)
		channel_send_bare(&exporter->worker, MESSAGE_WINDOW_WRITTEN, -1);
}

static void write_window(struct exporter *exporter, struct message *window)
{
	int r = 0;

	if (!exporter->server.shipper)
		r = append(exporter, window);
	else if (!ship(exporter, window))
		return;
	if (r == 0)
		channel_send_bare(&exporter->worker, MESSAGE_WINDOW_WRITTEN, -1);
	else
		conclude(exporter, r);
}

/* Sends what is queued. on_shipped() follows. */
static void finish_shipping(struct exporter *exporter)
{
	leave_worker(exporter);
	shipper_finish(exporter->server.shipper, FINISH_MS);
}

/*
 * Ends the export. A worker that ended without a profile is an end as well: its windows have left.
 */
static void on_shipped(void *argument)
{
	struct exporter *exporter = argument;

	exporter->output.bytes = shipper_counts(exporter->server.shipper)->bytes_unpacked;
	if (exporter->result < 0)
		event_base_loopbreak(exporter->base);
	else
		conclude(exporter, 0);
}

static void write_last(struct exporter *exporter, struct message *profile)
{
	int r;

	if (exporter->server.shipper) {
		exporter->is_last = true;
		ship(exporter, profile);
		finish_shipping(exporter);
		return;
	}
	r = append(exporter, profile);

	if (r == 0)
		r = output_sync(&exporter->output);
	conclude(exporter, r);
}

/* Keeps the draft in place of an earlier one. The descriptor of the message goes with the draft. */
static void keep_draft(struct exporter *exporter, const struct message *draft)
{
	message_release(&exporter->draft);
	exporter->draft = *draft;
}

static void take_figures(struct exporter *exporter, struct message *message)
{
	int r = self_take(&exporter->self, message);

	if (r < 0)
		stop(exporter, r);
}

static void on_message(struct exporter *exporter, struct message *message)
{
	switch (message->head.type) {
	case MESSAGE_DRAFT:
		keep_draft(exporter, message);
		break;
	case MESSAGE_WORK:
	case MESSAGE_ACCOUNT:
	case MESSAGE_INTERRUPTS:
	case MESSAGE_ACCOUNT_SUMS:
		take_figures(exporter, message);
		break;
	case MESSAGE_WINDOW:
		write_window(exporter, message);
		break;
	default:
		write_last(exporter, message);
		break;
	}
}

/* Sends what a worker that ended had handed over, before the exporter ends with it. */
static void lose_worker(struct exporter *exporter)
{
	exporter->result = -EPIPE;
	finish_shipping(exporter);
}

/* Keeps what the worker handed over in the queue. The loader gives another worker, or FINISH. */
static void await_worker(struct exporter *exporter)
{
	event_free(exporter->on_worker);
	exporter->on_worker = NULL;
	channel_release(&exporter->worker);
}

static void on_worker(int fd, short what, void *argument)
{
	struct exporter *exporter = argument;
	struct message message;
	int r = channel_receive(&exporter->worker, &message);

	(void)fd;
	(void)what;
	if (r > 0)
		on_message(exporter, &message);
	else if (r == -EPIPE && exporter->draft.fd >= 0)
		write_last(exporter, &exporter->draft); /* the worker can send no more */
	else if (r == -EPIPE && exporter->server.shipper && exporter->is_ending)
		lose_worker(exporter);
	else if (r == -EPIPE && exporter->server.shipper)
		await_worker(exporter);
	else if (r < 0)
		stop(exporter, r);
}

static struct event *new_event(struct exporter *exporter, int fd, short what,
			       event_callback_fn callback, enum priority priority)
{
	struct event *event = event_new(exporter->base, fd, what | EV_PERSIST, callback, exporter);

	if (event)
		event_priority_set(event, priority);
	return event;
}

static int watch_worker(struct exporter *exporter)
{
	exporter->on_worker =
		new_event(exporter, exporter->worker.fd, EV_READ, on_worker, PRIORITY_MESSAGES);
	if (!exporter->on_worker || event_add(exporter->on_worker, NULL) < 0)
		return -ENOMEM;
	return 0;
}

/* Takes what a worker that has ended still sent: its end may come after its successor. */
static void drain_worker(struct exporter *exporter)
{
	struct message message;

	while (channel_receive(&exporter->worker, &message) > 0)
		on_message(exporter, &message);
	await_worker(exporter);
}

/* Takes another worker in place of one that has ended. */
static int take_worker(struct exporter *exporter, struct message *message)
{
	if (!exporter->server.shipper || exporter->is_ending)
		return -EPROTO;
	if (exporter->worker.fd >= 0)
		drain_worker(exporter);
	channel_init(&exporter->worker, take_fd(&message->fd), PARTY_EXPORTER, PARTY_WORKER);
	exporter->worker.phase = PHASE_RUN;
	return watch_worker(exporter);
}

/*
 * Takes what comes of a profile only from FINISH on. A worker that was taken over could otherwise
 * have the exporter write into an output that the next worker writes to.
 */
static int on_loaders_message(struct exporter *exporter, struct message *message)
{
	switch (message->head.type) {
	case MESSAGE_FINISH:
		exporter->worker.phase = PHASE_FINISH;
		exporter->is_ending = true;
		if (exporter->worker.fd < 0)
			lose_worker(exporter);
		return 0;
	case MESSAGE_PROFILE_PEER:
		return take_worker(exporter, message);
	case MESSAGE_STATUS:
		return self_take(&exporter->self, message);
	default: /* the loader sends CREDENTIAL alone besides */
		return server_take(&exporter->server, message);
	}
}

/* Ends the exporter when the loader ends. */
static void on_loader(int fd, short what, void *argument)
{
	struct exporter *exporter = argument;
	struct message message;
	int r = channel_receive(&exporter->loader, &message);

	(void)fd;
	(void)what;
	if (r == 0)
		return;
	if (r > 0) {
		r = on_loaders_message(exporter, &message);
		message_release(&message);
	}
	if (r < 0)
		stop(exporter, r);
}

/* ---- loop ---- */

static int run(struct exporter *exporter)
{
	struct event *loader =
		new_event(exporter, exporter->loader.fd, EV_READ, on_loader, PRIORITY_LOADER);
	int r = watch_worker(exporter);

	if (r < 0)
		return r;
	/* Edges alone: a pipe can be written to nearly always. */
	exporter->on_output = new_event(exporter, exporter->output.fd, EV_WRITE | EV_ET, on_output,
					PRIORITY_OUTPUT);
	if (!loader || !exporter->on_output || event_add(loader, NULL) < 0)
		return -ENOMEM;
	/* A regular file cannot be watched (EPERM), and nobody can close it either. */
	if (!exporter->server.shipper)
		event_add(exporter->on_output, NULL);
	if (event_base_dispatch(exporter->base) < 0)
		return -EIO;
	return exporter->result;
}

int main(void)
{
	static struct exporter exporter;
	bool failed;
	int r = start(&exporter);

	if (r == 0)
		r = run(&exporter);
	failed = r < 0 && r != -EPIPE;
	if (failed)
		log_error("exporter: %s", strerror(-r));
	self_release(&exporter.self);
	server_release(&exporter.server);
	return failed || exporter.output.torn;
}
