/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/pusher.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "exporter/metrics/figures.h"
#include "exporter/metrics/otlp.h"
#include "exporter/net/connection.h"
#include "exporter/net/credentials.h"
#include "exporter/reporter.h"
#include "ipc/time.h"

#define CONNECT_MS 20000u     /* for a socket and for the handshake, each, as of shipper.h */
#define BYTES_MAX  (2u << 20) /* of a request: 100 rows of each kind, with long paths */

#define HTTP_NOT_FOUND	   404
#define GRPC_UNIMPLEMENTED 12

enum state {
	STATE_WAITS, /* for the time of the next push */
	STATE_ASKED, /* for a socket */
	STATE_HANDSHAKE,
	STATE_BUSY
};

struct pusher {
	struct event_base *base;
	struct pusher_owner owner;
	struct receiver receiver;
	struct credentials *credentials;
	struct reporter reporter;
	struct connection *connection;
	struct event *timer;
	enum state state;
	uint32_t interval_ms;
	uint64_t due; /* ns, monotonic: of the next push */
	struct buffer packed, scratch;
	struct request request;
	struct answer answer;
};

/* ---- states ---- */

static void wait_for(struct pusher *pusher, enum state state, uint64_t nanoseconds)
{
	const uint64_t microseconds = nanoseconds / 1000;
	const struct timeval wait = {(time_t)(microseconds / 1000000),
				     (suseconds_t)(microseconds % 1000000)};

	pusher->state = state;
	evtimer_add(pusher->timer, &wait);
}

static void wait_for_next(struct pusher *pusher)
{
	const uint64_t now = time_now(), interval = pusher->interval_ms * NS_PER_MS;

	connection_free(pusher->connection);
	pusher->connection = NULL;
	pusher->due += interval;
	if (pusher->due < now)
		pusher->due = now + interval;
	wait_for(pusher, STATE_WAITS, pusher->due - now);
}

static struct figures *figures_of(const struct pusher *pusher)
{
	return pusher->owner.figures(pusher->owner.owner);
}

static void fail(struct pusher *pusher, const char *reason)
{
	figures_of(pusher)->own.pushes_failed++;
	reporter_tell(&pusher->reporter, NOTICE_PUSH, LOG_LEVEL_WARNING, "metrics", reason);
	wait_for_next(pusher);
}

/* ---- a push ---- */

/* Makes the body of the request. Returns 0 or a negative errno. */
static int pack(struct pusher *pusher)
{
	struct buffer plain = {0};
	int r;

	buffer_reset(&plain, BYTES_MAX);
	buffer_reset(&pusher->packed, BYTES_MAX);
	otlp_write(figures_of(pusher), time_since_1970(), &plain);
	r = plain.error;
	if (r == 0)
		r = request_pack(&pusher->receiver, plain.bytes, plain.size, &pusher->packed);
	buffer_release(&plain);
	return r;
}

static void begin(struct pusher *pusher)
{
	int r;

	if (pusher->owner.is_away(pusher->owner.owner)) {
		fail(pusher, "the server is away");
		return;
	}
	r = pusher->owner.connect(pusher->owner.owner);
	if (r < 0)
		fail(pusher, strerror(-r));
	else
		wait_for(pusher, STATE_ASKED, CONNECT_MS * NS_PER_MS);
}

static void submit(struct pusher *pusher)
{
	int r = pack(pusher);

	if (r == 0) {
		pusher->request = (struct request){
			.receiver = &pusher->receiver,
			.body = pusher->packed.bytes,
			.size = pusher->packed.size,
		};
		r = connection_submit(pusher->connection, &pusher->request, &pusher->answer);
	}
	if (r < 0)
		fail(pusher, strerror(-r));
	else
		wait_for(pusher, STATE_BUSY, pusher->receiver.timeout_ns);
}

/* Says in words what the server answered, where verdict_of() would tell of profiles. */
static const char *explain(const struct pusher *pusher, struct verdict *verdict)
{
	if (verdict->partial)
		snprintf(verdict->text, sizeof(verdict->text), "%" PRIu64 " numbers rejected",
			 verdict->rejected);
	else if (pusher->answer.status == HTTP_NOT_FOUND ||
		 pusher->answer.grpc_status == GRPC_UNIMPLEMENTED)
		return "the server takes no metrics; leave --otlp-metrics out";
	return verdict->text;
}

static void judge(struct pusher *pusher)
{
	struct verdict verdict;
	const char *text;

	verdict_of(&pusher->answer, pusher->receiver.protocol, time(NULL),
		   connection_reason(pusher->connection), &pusher->scratch, &verdict);
	text = explain(pusher, &verdict);
	if (verdict.outcome != OUTCOME_DELIVERED) {
		fail(pusher, text);
		return;
	}
	figures_of(pusher)->own.pushes++;
	if (text[0])
		reporter_tell(&pusher->reporter, NOTICE_PUSH, LOG_LEVEL_WARNING, "metrics", text);
	wait_for_next(pusher);
}

/* ---- news ---- */

static void on_news(void *owner, enum connection_news news)
{
	struct pusher *pusher = owner;

	if (news == CONNECTION_READY)
		submit(pusher);
	else if (news == CONNECTION_ANSWERED)
		judge(pusher);
	else
		fail(pusher, connection_reason(pusher->connection));
}

void pusher_connected(struct pusher *pusher, int error, int fd)
{
	if (pusher->state != STATE_ASKED) {
		if (fd >= 0)
			close(fd); /* it came too late */
		return;
	}
	if (error == 0 && fd < 0)
		error = -EBADF;
	if (error == 0)
		error = connection_new(pusher->base, &pusher->receiver, pusher->credentials, fd,
				       on_news, pusher, &pusher->connection);
	if (error < 0)
		fail(pusher, strerror(-error));
	else
		wait_for(pusher, STATE_HANDSHAKE, CONNECT_MS * NS_PER_MS);
}

static void on_timer(int fd, short what, void *argument)
{
	struct pusher *pusher = argument;

	(void)fd;
	(void)what;
	if (pusher->state == STATE_WAITS)
		begin(pusher);
	else
		fail(pusher, "no answer in time");
}

/* ---- life ---- */

int pusher_new(struct event_base *base, struct receiver *receiver, struct credentials *credentials,
	       uint32_t milliseconds, const struct pusher_owner *owner, struct pusher **ret_pusher)
{
	struct pusher *pusher = calloc(1, sizeof(*pusher));

	if (!pusher) {
		receiver_release(receiver);
		return -ENOMEM;
	}
	pusher->base = base;
	pusher->owner = *owner;
	pusher->receiver = *receiver;
	pusher->credentials = credentials;
	pusher->reporter.server = pusher->receiver.authority;
	pusher->interval_ms = milliseconds;
	pusher->due = time_now();
	pusher->timer = evtimer_new(base, on_timer, pusher);
	if (!receiver_is_valid(receiver)) {
		pusher_free(pusher);
		return -EINVAL;
	}
	if (!pusher->timer) {
		pusher_free(pusher);
		return -ENOMEM;
	}
	wait_for_next(pusher);
	*ret_pusher = pusher;
	return 0;
}

void pusher_free(struct pusher *pusher)
{
	if (!pusher)
		return;
	connection_free(pusher->connection);
	if (pusher->timer)
		event_free(pusher->timer);
	receiver_release(&pusher->receiver);
	buffer_release(&pusher->packed);
	buffer_release(&pusher->scratch);
	answer_release(&pusher->answer);
	free(pusher);
}
