/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deliver SETTING... STEP...: sends windows by exporter/shipper.h, and plays worker and connector.
 * settings.h has the settings. Steps come in order. ca=, certificate=, key= and window= have a
 * FILE. sleep=MS waits, empty=MS does so for an empty queue at most, and failed=MS for a request or
 * a connection that fails. Prints the fates of windows and the counts, as "NAME VALUE".
 */
#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/loop.h"
#include "exporter/shipper.h"
#include "ipc/log.h"
#include "ipc/time.h"
#include "tests/otlp/settings.h"

#define POLL_MS 2

struct driver {
	struct event_base *base;
	struct event *timer;
	struct shipper *shipper;
	struct settings settings;
	bool (*has_come)(const struct delivery_counts *counts); /* what the step waits for */
	uint64_t wait_until;
};

/* ---- the connector's part ---- */

static void on_connect(int fd, short what, void *argument)
{
	struct driver *driver = argument;
	int made = settings_connect(&driver->settings);

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

static void step_window(struct driver *driver, const char *path)
{
	uint64_t size;
	int fd = settings_open(path, &size), r = shipper_window(driver->shipper, fd, size);

	printf("window %d\n", r);
	close(fd);
}

static void step_credential(struct driver *driver, enum credential_kind kind, const char *path)
{
	uint64_t size;
	int fd = settings_open(path, &size);

	printf("credential %d\n", shipper_credential(driver->shipper, kind, fd));
	close(fd);
}

static bool is_empty(const struct delivery_counts *counts)
{
	return counts->queue_windows == 0;
}

static bool has_failed(const struct delivery_counts *counts)
{
	return counts->connections_failed + counts->requests_failed > 0;
}

static void wait_for(struct driver *driver, bool (*has_come)(const struct delivery_counts *counts),
		     const char *milliseconds)
{
	driver->has_come = has_come;
	driver->wait_until = time_now() + strtoull(milliseconds, NULL, 10) * NS_PER_MS;
}

/* Returns ms to wait before the next step. */
static uint64_t take_step(struct driver *driver, const char *step)
{
	const char *value;

	if ((value = settings_value(step, "window")))
		step_window(driver, value);
	else if ((value = settings_value(step, "ca")))
		step_credential(driver, CREDENTIAL_CA, value);
	else if ((value = settings_value(step, "certificate")))
		step_credential(driver, CREDENTIAL_CERTIFICATE, value);
	else if ((value = settings_value(step, "key")))
		step_credential(driver, CREDENTIAL_KEY, value);
	else if ((value = settings_value(step, "sleep")))
		return strtoull(value, NULL, 10);
	else if ((value = settings_value(step, "empty")))
		wait_for(driver, is_empty, value);
	else if ((value = settings_value(step, "failed")))
		wait_for(driver, has_failed, value);
	else
		settings_die(step);
	return 0;
}

static bool is_waiting(const struct driver *driver)
{
	return driver->has_come && !driver->has_come(shipper_counts(driver->shipper)) &&
	       time_now() < driver->wait_until;
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
	if (!*driver->settings.steps) {
		shipper_finish(driver->shipper, driver->settings.finish);
		return;
	}
	wait = take_step(driver, *driver->settings.steps++);
	fflush(stdout);
	delay.tv_sec = (time_t)(wait / 1000);
	delay.tv_usec = (suseconds_t)(wait % 1000 * 1000);
	evtimer_add(driver->timer, &delay);
}

static void print_counts(const struct delivery_counts *counts)
{
#define C(name, help) printf(#name " %" PRIu64 "\n", counts->name);
#include "exporter/delivery/counts.def"
#undef C
}

static void make_shipper(struct driver *driver)
{
	const struct endpoint *endpoint = &driver->settings.endpoint;
	const struct delivery_limits limits = {endpoint->queue_bytes, endpoint->queue_ns,
					       endpoint->request_bytes};
	const struct shipper_owner owner = {ask, NULL, finished, driver, driver};
	struct receiver receiver;

	errno = -receiver_take(&receiver, endpoint);
	if (errno)
		settings_die("endpoint");
	errno = -shipper_new(driver->base, &receiver, &limits, &owner, &driver->shipper);
	if (errno)
		settings_die("shipper");
}

int main(int argc, char **argv)
{
	static struct driver driver;

	(void)argc;
	signal(SIGPIPE, SIG_IGN);
	log_init("deliver", LOG_LEVEL_DEBUG);
	settings_read(&driver.settings, argv + 1);
	driver.base = loop_new();
	driver.timer = driver.base ? evtimer_new(driver.base, on_timer, &driver) : NULL;
	if (!driver.timer)
		settings_die("loop");
	credentials_prepare();
	make_shipper(&driver);
	event_active(driver.timer, EV_TIMEOUT, 0);
	event_base_dispatch(driver.base);
	print_counts(shipper_counts(driver.shipper));
	shipper_free(driver.shipper);
	event_free(driver.timer);
	event_base_free(driver.base);
	return 0;
}
