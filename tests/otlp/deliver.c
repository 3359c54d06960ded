/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deliver NAME=VALUE...: sends windows by exporter/shipper.h, and plays worker and connector.
 * First come settings: protocol, compression, tls, host, address, port, path, timeout, request,
 * queue, age, finish (times in ms) and header=NAME:VALUE. Then come steps, in order: ca=,
 * certificate= and key=FILE, window=FILE, sleep=MS and empty=MS, which waits for an empty queue.
 * Prints what became of windows, and the counts, as "NAME VALUE".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/loop.h"
#include "exporter/shipper.h"
#include "ipc/log.h"
#include "ipc/time.h"

#define POLL_MS	  2
#define GRPC_PATH "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
#define HTTP_PATH "/v1development/profiles"

struct driver {
	struct event_base *base;
	struct event *timer;
	struct shipper *shipper;
	struct receiver receiver;
	struct delivery_limits limits;
	const char *address;
	uint64_t port, finish;
	char **steps;
	uint64_t empty_until;
};

static void die(const char *what)
{
	fprintf(stderr, "deliver: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- the connector's part ---- */

static int open_socket(const struct driver *driver)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)driver->port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || inet_pton(AF_INET, driver->address, &address.sin_addr) != 1)
		die("socket");
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		int error = errno;

		close(fd);
		return -error;
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static void on_connect(int fd, short what, void *argument)
{
	struct driver *driver = argument;
	int made = open_socket(driver);

	(void)fd;
	(void)what;
	if (made < 0)
		shipper_connected(driver->shipper, made, -1);
	else
		shipper_connected(driver->shipper, 0, made);
}

static int ask(void *owner)
{
	struct driver *driver = owner;
	const struct timeval now = {0};

	return event_base_once(driver->base, -1, EV_TIMEOUT, on_connect, driver, &now);
}

static void finished(void *owner)
{
	struct driver *driver = owner;

	event_base_loopbreak(driver->base);
}

/* ---- steps ---- */

static int open_file(const char *path, uint64_t *ret_size)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &status) < 0)
		die(path);
	*ret_size = (uint64_t)status.st_size;
	return fd;
}

static void step_window(struct driver *driver, const char *path)
{
	uint64_t size;
	int fd = open_file(path, &size), r = shipper_window(driver->shipper, fd, size);

	printf("window %d\n", r);
	close(fd);
}

static void step_credential(struct driver *driver, enum credential_kind kind, const char *path)
{
	uint64_t size;
	int fd = open_file(path, &size);

	printf("credential %d\n", shipper_credential(driver->shipper, kind, fd));
	close(fd);
}

static const char *value_of(const char *step, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(step, name, length) == 0 && step[length] == '=')
		return step + length + 1;
	return NULL;
}

/* Returns ms to wait before the next step. */
static uint64_t take_step(struct driver *driver, const char *step)
{
	const char *value;

	if ((value = value_of(step, "window")))
		step_window(driver, value);
	else if ((value = value_of(step, "ca")))
		step_credential(driver, CREDENTIAL_CA, value);
	else if ((value = value_of(step, "certificate")))
		step_credential(driver, CREDENTIAL_CERTIFICATE, value);
	else if ((value = value_of(step, "key")))
		step_credential(driver, CREDENTIAL_KEY, value);
	else if ((value = value_of(step, "sleep")))
		return strtoull(value, NULL, 10);
	else if ((value = value_of(step, "empty")))
		driver->empty_until = time_now() + strtoull(value, NULL, 10) * NS_PER_MS;
	else
		die(step);
	return 0;
}

static bool is_waiting(const struct driver *driver)
{
	return shipper_counts(driver->shipper)->queue_windows > 0 &&
	       time_now() < driver->empty_until;
}

static void on_timer(int fd, short what, void *argument)
{
	struct driver *driver = argument;
	struct timeval delay = {.tv_usec = POLL_MS * 1000};
	uint64_t wait;

	(void)fd;
	(void)what;
	if (is_waiting(driver)) {
		evtimer_add(driver->timer, &delay);
		return;
	}
	if (!*driver->steps) {
		shipper_finish(driver->shipper, driver->finish);
		return;
	}
	wait = take_step(driver, *driver->steps++);
	fflush(stdout);
	delay.tv_sec = (time_t)(wait / 1000);
	delay.tv_usec = (suseconds_t)(wait % 1000 * 1000);
	evtimer_add(driver->timer, &delay);
}

/* ---- settings ---- */

static void set_text(char *to, size_t room, const char *value)
{
	snprintf(to, room, "%s", value);
}

static void set_header(struct driver *driver, const char *value)
{
	char *name = strdup(value), *colon = name ? strchr(name, ':') : NULL;

	if (!colon)
		die(value);
	*colon = '\0';
	errno = -receiver_add_header(&driver->receiver, name, colon + 1);
	if (errno)
		die(value);
	free(name);
}

/* Returns whether the argument is a setting. */
static bool take_setting(struct driver *driver, const char *argument)
{
	struct receiver *receiver = &driver->receiver;
	const struct {
		const char *name;
		uint64_t *to;
		uint64_t unit;
	} numbers[] = {
		{"timeout", &receiver->timeout_ns, NS_PER_MS},
		{"request", &driver->limits.request_bytes, 1},
		{"queue", &driver->limits.queue_bytes, 1},
		{"age", &driver->limits.queue_ns, NS_PER_MS},
		{"finish", &driver->finish, 1},
		{"port", &driver->port, 1},
	};
	const char *value;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if ((value = value_of(argument, numbers[i].name))) {
			*numbers[i].to = strtoull(value, NULL, 10) * numbers[i].unit;
			return true;
		}
	if ((value = value_of(argument, "protocol")))
		receiver->protocol = strcmp(value, "http") == 0 ? ENDPOINT_HTTP : ENDPOINT_GRPC;
	else if ((value = value_of(argument, "compression")))
		receiver->compression = codec_find(value, strlen(value));
	else if ((value = value_of(argument, "tls")))
		receiver->tls = *value == '1';
	else if ((value = value_of(argument, "host")))
		set_text(receiver->host, sizeof(receiver->host), value);
	else if ((value = value_of(argument, "path")))
		set_text(receiver->path, sizeof(receiver->path), value);
	else if ((value = value_of(argument, "address")))
		driver->address = value;
	else if ((value = value_of(argument, "header")))
		set_header(driver, value);
	else
		return false;
	return true;
}

static void print_counts(const struct delivery_counts *counts)
{
#define C(name, help) printf(#name " %" PRIu64 "\n", counts->name);
#include "exporter/delivery/counts.def"
#undef C
}

static void prepare(struct driver *driver, char **arguments)
{
	struct receiver *receiver = &driver->receiver;

	while (*arguments && take_setting(driver, *arguments))
		arguments++;
	driver->steps = arguments;
	if (!receiver->path[0])
		set_text(receiver->path, sizeof(receiver->path),
			 receiver->protocol == ENDPOINT_GRPC ? GRPC_PATH : HTTP_PATH);
	snprintf(receiver->authority, sizeof(receiver->authority), "%.250s:%" PRIu64,
		 receiver->host, driver->port);
}

int main(int argc, char **argv)
{
	static struct driver driver = {
		.receiver = {.timeout_ns = 10 * NS_PER_SECOND, .host = "localhost"},
		.limits = {64 << 20, 300 * NS_PER_SECOND, 3670016},
		.address = "127.0.0.1",
		.finish = 10000,
	};
	struct shipper_owner owner = {ask, finished, &driver, &driver};

	(void)argc;
	signal(SIGPIPE, SIG_IGN);
	log_init("deliver", LOG_LEVEL_DEBUG);
	prepare(&driver, argv + 1);
	driver.base = loop_new();
	driver.timer = driver.base ? evtimer_new(driver.base, on_timer, &driver) : NULL;
	if (!driver.timer || credentials_prepare() < 0)
		die("loop");
	errno = -shipper_new(driver.base, &driver.receiver, &driver.limits, &owner,
			     &driver.shipper);
	if (errno)
		die("shipper");
	event_active(driver.timer, EV_TIMEOUT, 0);
	event_base_dispatch(driver.base);
	print_counts(shipper_counts(driver.shipper));
	shipper_free(driver.shipper);
	event_free(driver.timer);
	event_base_free(driver.base);
	return 0;
}
