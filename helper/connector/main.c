/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-connector: connects to the server that profiles go to, whenever the exporter asks, and
 * hands the exporter the connected socket. The exporter thus opens no socket and names no address.
 *
 * keyhole-connector looks names up by the C library, with whatever modules the machine has for it.
 * The program is therefore no static one. It sends nothing but the request to a proxy.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "helper/connector/connection.h"
#include "helper/connector/proxy.h"
#include "ipc/channel.h"
#include "ipc/destination.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/signals.h"
#include "ipc/time.h"
#include "policy/policy.h"

#define START_MS 10000

struct connector {
	struct channel loader, exporter; /* exporter: fd -1 until the first one comes */
	struct address address;
};

/* ---- start ----------------------------------------------------------------------------------- */

static bool is_text(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static int read_address(int fd, struct address *ret_address)
{
	const ssize_t got = pread(fd, ret_address, sizeof(*ret_address), 0);

	if (got != (ssize_t)sizeof(*ret_address))
		return -EBADMSG;
	if (!is_text(ret_address->host, sizeof(ret_address->host)) ||
	    !is_text(ret_address->proxy_host, sizeof(ret_address->proxy_host)) ||
	    !is_text(ret_address->proxy_credentials, sizeof(ret_address->proxy_credentials)))
		return -EBADMSG;
	return 0;
}

static int start(struct connector *connector)
{
	struct message message;
	struct message_reply ready = {0};
	int r = channel_expect(&connector->loader, MESSAGE_ADDRESS, START_MS, &message);

	if (r < 0)
		return r;
	ready.error = read_address(message.fd, &connector->address);
	message_release(&message);
	if (ready.error == 0)
		ready.error = policy_confine_self(ROLE_CONNECTOR, NULL);
	r = channel_send(&connector->loader, MESSAGE_CONNECTOR_READY, &ready, sizeof(ready), -1);
	if (r < 0)
		return r;
	return ready.error;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Returns a connected socket or a negative errno. */
static int connect_through(const struct address *address, uint64_t until)
{
	guard_fd int fd = connection_open(address->proxy_host, address->proxy_port, until);
	int r;

	if (fd < 0)
		return take_fd(&fd);
	r = proxy_connect(fd, address, until);
	if (r < 0)
		return r;
	return take_fd(&fd);
}

static int open_connection(const struct address *address)
{
	const uint64_t until = time_now() + address->timeout_ms * NS_PER_MS;

	if (address->port == 0)
		return connection_open_path(address->host);
	if (address->proxy_port)
		return connect_through(address, until);
	return connection_open(address->host, address->port, until);
}

static int answer(struct connector *connector, const struct message *request)
{
	guard_fd int fd = open_connection(&connector->address);
	struct message_reply reply = {0};

	if (fd < 0)
		reply.error = fd;
	return channel_reply(&connector->exporter, request, &reply, sizeof(reply), fd);
}

/* An exporter that breaks the rules, or ends, has no channel any more. Another one may follow. */
static void on_exporter(struct connector *connector)
{
	struct message message;
	int r = channel_receive(&connector->exporter, &message);

	if (r > 0)
		r = answer(connector, &message);
	if (r < 0)
		channel_release(&connector->exporter);
}

/* Takes the channel to an exporter. Returns a negative errno when the loader is gone. */
static int on_loader(struct connector *connector)
{
	struct message message;
	int r = channel_receive(&connector->loader, &message);

	if (r <= 0)
		return r;
	channel_release(&connector->exporter);
	channel_init(&connector->exporter, message.fd, PARTY_CONNECTOR, PARTY_EXPORTER);
	connector->exporter.phase = PHASE_RUN;
	return 0;
}

static int serve(struct connector *connector)
{
	int r = 0;

	while (r == 0) {
		struct pollfd fds[] = {{.fd = connector->loader.fd, .events = POLLIN},
				       {.fd = connector->exporter.fd, .events = POLLIN}};

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents)
			on_exporter(connector);
		if (fds[0].revents)
			r = on_loader(connector);
	}
	return r;
}

int main(void)
{
	static struct connector connector;
	int r;

	if (close_range(CHANNEL_FD + 1, ~0u, 0))
		return 1;
	signals_leave_to_loader();
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, message_party_name(PARTY_CONNECTOR));
	prctl(PR_SET_DUMPABLE, 0);
	log_init("keyhole", LOG_LEVEL_INFO);
	connector.exporter.fd = -1;
	channel_init(&connector.loader, CHANNEL_FD, PARTY_CONNECTOR, PARTY_LOADER);
	r = start(&connector);
	if (r == 0)
		r = serve(&connector);
	if (r != -EPIPE)
		log_error("connector: %s", strerror(-r));
	return r != -EPIPE;
}
