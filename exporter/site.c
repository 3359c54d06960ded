/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/site.h"

#include <errno.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exporter/metrics/figures.h"
#include "exporter/metrics/query.h"
#include "ipc/time.h"

#define ANSWER_BYTES_MAX (2u << 20) /* 100 rows of each kind, with long paths */
#define HEAD_BYTES	 256
#define REST_MS		 1000 /* after a failure to accept, for which there is no descriptor */

struct client {
	struct site *site;
	int fd; /* -1: there is none */
	struct event *on_read, *on_write, *on_late;
	uint64_t number; /* counts up */
	char query[QUERY_BYTES_MAX];
	size_t size;
	struct buffer answer;
	size_t written;
};

struct site {
	struct event_base *base;
	struct site_owner owner;
	int fd;
	struct event *on_client, *on_rested;
	uint64_t clients_seen;
	struct client clients[SITE_CLIENTS_MAX];
};

static struct timeval wait_of(unsigned int milliseconds)
{
	return (struct timeval){milliseconds / 1000, milliseconds % 1000 * 1000};
}

/* ---- the end of a client ---- */

static void drop_event(struct event **event)
{
	if (*event)
		event_free(*event);
	*event = NULL;
}

static void end(struct client *client)
{
	drop_event(&client->on_read);
	drop_event(&client->on_write);
	drop_event(&client->on_late);
	buffer_release(&client->answer);
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
	client->size = client->written = 0;
}

static struct figures *figures_of(const struct client *client)
{
	return client->site->owner.figures(client->site->owner.owner);
}

/* Ends a client that got no whole answer. */
static void drop(struct client *client)
{
	figures_of(client)->own.clients_dropped++;
	end(client);
}

static void on_late(int fd, short what, void *argument)
{
	(void)fd;
	(void)what;
	drop(argument);
}

/* ---- answers ---- */

static const char *status_text(int status)
{
	static const struct {
		int status;
		const char *text;
	} rows[] = {
		{200, "200 OK"},
		{404, "404 Not Found"},
		{405, "405 Method Not Allowed"},
		{431, "431 Request Header Fields Too Large"},
		{505, "505 HTTP Version Not Supported"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].status == status)
			return rows[i].text;
	return "400 Bad Request";
}

static void put_head(struct buffer *answer, const struct query *query, size_t size)
{
	const char *type = "text/plain; charset=utf-8", *allow = "";
	char head[HEAD_BYTES];
	int length;

	if (query->status == 200)
		type = page_type(query->form);
	if (query->status == 405)
		allow = "Allow: GET, HEAD\r\n";
	length = snprintf(head, sizeof(head),
			  "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%s"
			  "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
			  status_text(query->status), type, size, allow);
	if (length > 0)
		buffer_put(answer, head, (size_t)length);
}

static void put_body(struct buffer *body, const struct figures *figures, const struct query *query)
{
	static const char refusal[] = "The page is /metrics.\n";

	buffer_reset(body, ANSWER_BYTES_MAX);
	if (query->status == 200)
		page_write(figures, query->form, body);
	else
		buffer_put(body, refusal, sizeof(refusal) - 1);
}

/* Returns 0 or a negative errno. */
static int make_answer(struct client *client, const struct query *query)
{
	struct figures *figures = figures_of(client);
	struct buffer body = {0};

	if (query->status == 200)
		figures->own.pages++;
	else
		figures->own.pages_refused++;
	put_body(&body, figures, query);
	buffer_reset(&client->answer, ANSWER_BYTES_MAX);
	put_head(&client->answer, query, body.size);
	if (!query->is_head)
		buffer_put(&client->answer, body.bytes, body.size);
	if (body.error && !client->answer.error)
		client->answer.error = body.error;
	buffer_release(&body);
	return client->answer.error;
}

static void on_write(int fd, short what, void *argument)
{
	struct client *client = argument;
	const size_t left = client->answer.size - client->written;
	ssize_t r = write(fd, client->answer.bytes + client->written, left);

	(void)what;
	if (r < 0 && (errno == EAGAIN || errno == EINTR)) {
		event_add(client->on_write, NULL);
		return;
	}
	if (r < 0) {
		drop(client);
		return;
	}
	client->written += (size_t)r;
	if (client->written == client->answer.size)
		end(client);
	else
		event_add(client->on_write, NULL);
}

static void answer(struct client *client, const struct query *query)
{
	event_del(client->on_read);
	if (make_answer(client, query) < 0)
		drop(client);
	else
		event_add(client->on_write, NULL);
}

static void on_read(int fd, short what, void *argument)
{
	struct client *client = argument;
	struct query query;
	ssize_t r = read(fd, client->query + client->size, sizeof(client->query) - client->size);

	(void)what;
	if (r < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (r <= 0) {
		drop(client);
		return;
	}
	client->size += (size_t)r;
	if (query_read(client->query, client->size, &query))
		answer(client, &query);
}

/* ---- clients ---- */

/* Returns a free place, maybe the one of the oldest client. */
static struct client *find_place(struct site *site)
{
	struct client *oldest = &site->clients[0];

	for (size_t i = 0; i < SITE_CLIENTS_MAX; i++) {
		if (site->clients[i].fd < 0)
			return &site->clients[i];
		if (site->clients[i].number < oldest->number)
			oldest = &site->clients[i];
	}
	drop(oldest);
	return oldest;
}

static void begin(struct site *site, int fd)
{
	const struct timeval late = wait_of(SITE_CLIENT_MS);
	struct client *client = find_place(site);

	client->fd = fd;
	client->number = ++site->clients_seen;
	client->on_read = event_new(site->base, fd, EV_READ | EV_PERSIST, on_read, client);
	client->on_write = event_new(site->base, fd, EV_WRITE, on_write, client);
	client->on_late = evtimer_new(site->base, on_late, client);
	if (!client->on_read || !client->on_write || !client->on_late ||
	    event_add(client->on_read, NULL) < 0 || evtimer_add(client->on_late, &late) < 0)
		drop(client);
}

static void on_rested(int fd, short what, void *argument)
{
	struct site *site = argument;

	(void)fd;
	(void)what;
	event_add(site->on_client, NULL);
}

static void rest(struct site *site)
{
	const struct timeval wait = wait_of(REST_MS);

	event_del(site->on_client);
	evtimer_add(site->on_rested, &wait);
}

static void on_client(int listener, short what, void *argument)
{
	struct site *site = argument;
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)what;
	if (fd >= 0)
		begin(site, fd);
	else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		rest(site);
}

/* ---- life ---- */

int site_new(struct event_base *base, int fd, const struct site_owner *owner,
	     struct site **ret_site)
{
	struct site *site = calloc(1, sizeof(*site));

	if (!site) {
		close(fd);
		return -ENOMEM;
	}
	*site = (struct site){.base = base, .owner = *owner, .fd = fd};
	for (size_t i = 0; i < SITE_CLIENTS_MAX; i++)
		site->clients[i] = (struct client){.site = site, .fd = -1};
	site->on_client = event_new(base, fd, EV_READ | EV_PERSIST, on_client, site);
	site->on_rested = evtimer_new(base, on_rested, site);
	if (!site->on_client || !site->on_rested || event_add(site->on_client, NULL) < 0) {
		site_free(site);
		return -ENOMEM;
	}
	*ret_site = site;
	return 0;
}

void site_free(struct site *site)
{
	if (!site)
		return;
	for (size_t i = 0; i < SITE_CLIENTS_MAX; i++)
		end(&site->clients[i]);
	drop_event(&site->on_client);
	drop_event(&site->on_rested);
	close(site->fd);
	free(site);
}
