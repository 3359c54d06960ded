/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/shipper.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "exporter/net/connection.h"
#include "exporter/reporter.h"
#include "exporter/spool.h"
#include "exporter/window.h"
#include "ipc/time.h"

#define PACKED_MAX (65u << 20) /* of a request; compression may add a little */

enum link {
	LINK_NONE,
	LINK_ASKED, /* for a socket */
	LINK_HANDSHAKE,
	LINK_READY,
	LINK_BUSY
};

struct shipper {
	struct event_base *base;
	struct shipper_owner owner;
	struct receiver receiver;
	struct credentials *credentials; /* NULL: there is no TLS */
	struct delivery *delivery;
	struct spool *spool; /* NULL: windows are in memory alone */
	struct reporter reporter;
	struct connection *connection;
	struct event *timer;
	enum link link;
	bool asked;	  /* for a socket that has not come, maybe too late */
	bool stale;	  /* the connection has old certificates */
	bool tried_again; /* this part has been sent again at once */
	bool finishing;
	bool held;	   /* the owner waits until the window that came last was read */
	uint64_t deadline; /* of the link's state */
	uint64_t finish_at;
	uint64_t window_max;	/* bytes */
	uint64_t packed_serial; /* of what `packed` has; 0: nothing */
	struct buffer packed, scratch;
	struct request request;
	struct answer answer;
};

static void advance(struct shipper *shipper);

/* ---- life ---- */

static void on_timer(int fd, short what, void *argument);

static uint64_t seed(void)
{
	uint64_t value = 0;

	if (getrandom(&value, sizeof(value), GRND_NONBLOCK) != sizeof(value))
		value = time_now();
	return value;
}

int shipper_new(struct event_base *base, struct receiver *receiver,
		const struct delivery_limits *limits, const struct shipper_owner *owner,
		struct shipper **ret_shipper)
{
	struct shipper *shipper = calloc(1, sizeof(*shipper));

	if (!shipper) {
		receiver_release(receiver);
		return -ENOMEM;
	}
	shipper->base = base;
	shipper->owner = *owner;
	shipper->window_max = limits->queue_bytes;
	shipper->receiver = *receiver;
	shipper->reporter.server = shipper->receiver.authority;
	if (shipper->receiver.tls)
		shipper->credentials = credentials_new();
	shipper->delivery = delivery_new(limits, seed());
	shipper->timer = evtimer_new(base, on_timer, shipper);
	shipper->deadline = DELIVERY_NEVER;
	if (!receiver_is_valid(receiver)) {
		shipper_free(shipper);
		return -EINVAL;
	}
	if (!shipper->credentials != !shipper->receiver.tls || !shipper->delivery ||
	    !shipper->timer) {
		shipper_free(shipper);
		return -ENOMEM;
	}
	*ret_shipper = shipper;
	return 0;
}

void shipper_free(struct shipper *shipper)
{
	if (!shipper)
		return;
	connection_free(shipper->connection);
	if (shipper->timer)
		event_free(shipper->timer);
	spool_free(shipper->spool);
	delivery_free(shipper->delivery);
	credentials_free(shipper->credentials);
	receiver_release(&shipper->receiver);
	buffer_release(&shipper->packed);
	buffer_release(&shipper->scratch);
	answer_release(&shipper->answer);
	free(shipper);
}

const struct delivery_counts *shipper_counts(struct shipper *shipper)
{
	return delivery_counts(shipper->delivery);
}

bool shipper_is_failing(const struct shipper *shipper)
{
	return shipper->reporter.failing;
}

struct credentials *shipper_credentials(struct shipper *shipper)
{
	return shipper->credentials;
}

uint64_t shipper_queue_age(const struct shipper *shipper, uint64_t now)
{
	return delivery_age(shipper->delivery, now);
}

static struct delivery_counts *counts(struct shipper *shipper)
{
	return delivery_counts(shipper->delivery);
}

/* ---- timer ---- */

static void wait_until(struct shipper *shipper, uint64_t when)
{
	uint64_t now = time_now(), wait = 0;
	struct timeval delay;

	if (shipper->finishing && when > shipper->finish_at)
		when = shipper->finish_at;
	if (when == DELIVERY_NEVER) {
		evtimer_del(shipper->timer);
		return;
	}
	if (when > now)
		wait = (when - now) / 1000 + 1;
	delay.tv_sec = (time_t)(wait / 1000000);
	delay.tv_usec = (suseconds_t)(wait % 1000000);
	evtimer_add(shipper->timer, &delay);
}

static void set_link(struct shipper *shipper, enum link link, uint64_t milliseconds)
{
	shipper->link = link;
	shipper->deadline = DELIVERY_NEVER;
	if (milliseconds > 0)
		shipper->deadline = time_now() + milliseconds * NS_PER_MS;
}

static void unlink_connection(struct shipper *shipper)
{
	connection_free(shipper->connection);
	shipper->connection = NULL;
	shipper->stale = false;
	set_link(shipper, LINK_NONE, 0);
}

/* ---- connections ---- */

static void no_connection(struct shipper *shipper, const char *reason)
{
	const struct verdict verdict = {.outcome = OUTCOME_RETRY};

	counts(shipper)->connections_failed++;
	reporter_no_connection(&shipper->reporter, reason);
	unlink_connection(shipper);
	delivery_judge(shipper->delivery, &verdict, time_now());
}

static void ask(struct shipper *shipper)
{
	int r = 0;

	set_link(shipper, LINK_ASKED, SHIPPER_CONNECT_MS);
	if (!shipper->asked)
		r = shipper->owner.connect(shipper->owner.connector);
	if (r < 0)
		no_connection(shipper, strerror(-r));
	else
		shipper->asked = true;
}

static void on_news(void *owner, enum connection_news news);

void shipper_connected(struct shipper *shipper, int error, int fd)
{
	shipper->asked = false;
	if (shipper->link != LINK_ASKED) {
		if (fd >= 0)
			close(fd); /* it came too late */
		return;
	}
	if (error == 0 && fd < 0)
		error = -EBADF;
	if (error == 0)
		error = connection_new(shipper->base, &shipper->receiver, shipper->credentials, fd,
				       on_news, shipper, &shipper->connection);
	if (error == -ENOKEY)
		no_connection(shipper, "TLS: no authorities, or a certificate without its key");
	else if (error < 0)
		no_connection(shipper, strerror(-error));
	else
		set_link(shipper, LINK_HANDSHAKE, SHIPPER_CONNECT_MS);
	advance(shipper);
}

/* ---- requests ---- */

/* Packs the part, once for all times that it is sent. */
static int pack(struct shipper *shipper, const struct delivery_part *part)
{
	int r;

	if (shipper->packed_serial == part->serial)
		return 0;
	shipper->packed_serial = 0;
	shipper->tried_again = false;
	buffer_reset(&shipper->packed, PACKED_MAX);
	r = request_pack(&shipper->receiver, part->bytes, part->size, &shipper->packed);
	if (r == 0)
		shipper->packed_serial = part->serial;
	return r;
}

static int submit(struct shipper *shipper, const struct delivery_part *part)
{
	int r = pack(shipper, part);

	if (r < 0)
		return r;
	shipper->request = (struct request){
		.receiver = &shipper->receiver,
		.body = shipper->packed.bytes,
		.size = shipper->packed.size,
	};
	r = connection_submit(shipper->connection, &shipper->request, &shipper->answer);
	if (r < 0)
		return r;
	counts(shipper)->bytes_sent += shipper->packed.size;
	counts(shipper)->bytes_unpacked += part->size;
	return 0;
}

static void settle(struct shipper *shipper, const struct verdict *verdict);

static void send_next(struct shipper *shipper)
{
	struct verdict verdict = {.outcome = OUTCOME_RETRY};
	struct delivery_part part;
	int r;

	if (!delivery_next(shipper->delivery, time_now(), &part))
		return;
	r = submit(shipper, &part);
	if (r == 0) {
		set_link(shipper, LINK_BUSY, shipper->receiver.timeout_ns / NS_PER_MS);
		return;
	}
	unlink_connection(shipper);
	snprintf(verdict.text, sizeof(verdict.text), "%s", strerror(-r));
	settle(shipper, &verdict);
}

static void settle(struct shipper *shipper, const struct verdict *verdict)
{
	delivery_judge(shipper->delivery, verdict, time_now());
	reporter_verdict(&shipper->reporter, verdict);
}

/* ---- news of a connection ---- */

/*
 * A server may close a connection that it has not used for a while, just when a request begins.
 * Such a request goes again at once, on a new connection and only once.
 */
static bool goes_again(struct shipper *shipper)
{
	if (shipper->tried_again || !connection_was_used(shipper->connection) ||
	    shipper->answer.status != 0 || shipper->answer.was_reset)
		return false;
	return shipper->answer.error == -ECONNRESET || shipper->answer.error == -EPIPE;
}

static void send_again(struct shipper *shipper)
{
	const struct verdict verdict = {.outcome = OUTCOME_RETRY};

	shipper->tried_again = true;
	unlink_connection(shipper);
	delivery_judge(shipper->delivery, &verdict, time_now());
	delivery_hurry(shipper->delivery);
}

/*
 * Sends the part again, less compressed, and all later ones like that. Every server must take gzip,
 * and not every server does.
 */
static void unpack(struct shipper *shipper, struct verdict *verdict)
{
	static const enum codec less[CODECS] = {
		[CODEC_ZSTD] = CODEC_GZIP, [CODEC_GZIP] = CODEC_IDENTITY};
	enum codec *codec = &shipper->receiver.compression;

	log_warning("export: %s: %s; requests have %s from now on, not %s",
		    shipper->receiver.authority, verdict->text, codec_name(less[*codec]),
		    codec_name(*codec));
	counts(shipper)->encodings_refused++;
	*codec = less[*codec];
	shipper->packed_serial = 0;
	verdict->outcome = OUTCOME_RETRY;
	delivery_judge(shipper->delivery, verdict, time_now());
	delivery_hurry(shipper->delivery);
}

static void judge(struct shipper *shipper, const char *reason)
{
	struct verdict verdict;

	verdict_of(&shipper->answer, shipper->receiver.protocol, time(NULL), reason,
		   &shipper->scratch, &verdict);
	if (verdict.packing && shipper->receiver.compression != CODEC_IDENTITY)
		unpack(shipper, &verdict);
	else
		settle(shipper, &verdict);
}

static void on_answer(struct shipper *shipper)
{
	if (goes_again(shipper)) {
		send_again(shipper);
		return;
	}
	judge(shipper, connection_reason(shipper->connection));
	if (connection_is_reusable(shipper->connection) && !shipper->stale)
		set_link(shipper, LINK_READY, 0);
	else
		unlink_connection(shipper);
}

static void on_news(void *owner, enum connection_news news)
{
	struct shipper *shipper = owner;

	if (news == CONNECTION_READY) {
		counts(shipper)->connections++;
		set_link(shipper, LINK_READY, 0);
	} else if (news == CONNECTION_ANSWERED) {
		on_answer(shipper);
	} else if (shipper->link == LINK_HANDSHAKE) {
		no_connection(shipper, connection_reason(shipper->connection));
	} else {
		unlink_connection(shipper); /* an idle one: the next request makes another */
	}
	advance(shipper);
}

/* ---- steps ---- */

static void on_deadline(struct shipper *shipper)
{
	if (shipper->link == LINK_BUSY) {
		shipper->answer.error = -ETIMEDOUT;
		shipper->answer.was_reset = false;
		unlink_connection(shipper);
		judge(shipper, "no answer in time");
	} else if (shipper->link == LINK_HANDSHAKE) {
		no_connection(shipper, "no handshake in time");
	} else {
		no_connection(shipper, "no socket in time");
	}
}

static bool has_finished(struct shipper *shipper)
{
	if (!shipper->finishing)
		return false;
	if (shipper->spool && spool_is_reading(shipper->spool) && time_now() < shipper->finish_at)
		return false;
	if (delivery_is_empty(shipper->delivery))
		return true;
	if (time_now() < shipper->finish_at)
		return false;
	unlink_connection(shipper);
	delivery_abandon(shipper->delivery);
	return true;
}

/* Takes the next step that can be taken now, if any. */
static void step(struct shipper *shipper)
{
	uint64_t now = time_now();

	delivery_expire(shipper->delivery, now);
	if (now >= shipper->deadline)
		on_deadline(shipper);
	if (shipper->stale && shipper->link == LINK_READY)
		unlink_connection(shipper);
	if (shipper->spool && !shipper->finishing)
		spool_step(shipper->spool, now);
	if (delivery_due(shipper->delivery) > now)
		return;
	if (shipper->link == LINK_NONE)
		ask(shipper);
	else if (shipper->link == LINK_READY)
		send_next(shipper);
}

static void advance(struct shipper *shipper)
{
	uint64_t when;

	step(shipper);
	reporter_dropped(&shipper->reporter, counts(shipper));
	if (has_finished(shipper)) {
		shipper->finishing = false;
		evtimer_del(shipper->timer);
		reporter_finished(&shipper->reporter, counts(shipper));
		shipper->owner.finished(shipper->owner.owner);
		return;
	}
	when = delivery_due(shipper->delivery);
	if (shipper->deadline < when || shipper->link == LINK_ASKED ||
	    shipper->link == LINK_HANDSHAKE)
		when = shipper->deadline;
	if (shipper->spool && !shipper->finishing && spool_due(shipper->spool) < when)
		when = spool_due(shipper->spool);
	wait_until(shipper, when);
}

static void on_timer(int fd, short what, void *argument)
{
	(void)fd;
	(void)what;
	advance(argument);
}

/* ---- what the owner hands in ---- */

int shipper_credential(struct shipper *shipper, enum credential_kind kind, int fd)
{
	static const char *const names[CREDENTIAL_KINDS] = {
		[CREDENTIAL_CA] = "authorities",
		[CREDENTIAL_CERTIFICATE] = "client certificate",
		[CREDENTIAL_KEY] = "client key",
	};
	char reason[96];
	int r;

	if (!shipper->credentials) /* of no use without TLS */
		return 0;
	r = credentials_read(shipper->credentials, kind, fd);
	if (r == 0) {
		shipper->stale = shipper->connection;
		advance(shipper);
		return 0;
	}
	snprintf(reason, sizeof(reason), "%s: %s", names[kind], strerror(-r));
	reporter_tell(&shipper->reporter, NOTICE_CREDENTIAL, LOG_LEVEL_ERROR, "TLS", reason);
	return r;
}

static int add_window(struct shipper *shipper, int fd, uint64_t size)
{
	uint8_t *bytes;
	int r;

	if (size == 0)
		return 0;
	r = window_copy(fd, 0, size, shipper->window_max, &bytes);
	if (r < 0)
		return r;
	if (shipper->spool)
		return spool_window(shipper->spool, fd, bytes, size, time_now());
	return delivery_add(shipper->delivery, bytes, size, 0, time_now());
}

int shipper_window(struct shipper *shipper, int fd, uint64_t size)
{
	int r = add_window(shipper, fd, size);

	if (r < 0)
		reporter_tell(&shipper->reporter, NOTICE_WINDOW, LOG_LEVEL_WARNING, "window",
			      strerror(-r));
	shipper->held = r > 0;
	wait_until(shipper, 0); /* the rest happens from the loop */
	return r;
}

static void on_spool(void *owner)
{
	struct shipper *shipper = owner;

	if (shipper->held && !spool_is_reading(shipper->spool)) {
		shipper->held = false;
		shipper->owner.read(shipper->owner.owner);
	}
	advance(shipper);
}

int shipper_spool(struct shipper *shipper, int channel)
{
	const struct spool_owner owner = {shipper->delivery, &shipper->reporter,
					  shipper->window_max, on_spool, shipper};
	int r = spool_new(shipper->base, channel, &owner, &shipper->spool);

	if (r == 0)
		wait_until(shipper, 0);
	return r;
}

void shipper_finish(struct shipper *shipper, uint64_t milliseconds)
{
	shipper->finishing = true;
	shipper->finish_at = time_now() + milliseconds * NS_PER_MS;
	delivery_hurry(shipper->delivery);
	wait_until(shipper, 0);
}
