/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/otlp/settings.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ipc/time.h"

#define GRPC_PATH    "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
#define HTTP_PATH    "/v1development/profiles"
#define METRICS_PATH "/v1/metrics" /* in gRPC, too */

void settings_die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

const char *settings_value(const char *argument, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(argument, name, length) == 0 && argument[length] == '=')
		return argument + length + 1;
	return NULL;
}

static void set_text(char *to, size_t room, const char *value)
{
	snprintf(to, room, "%s", value);
}

/* Adds "name:value" behind the other headers. */
static void add_header(struct endpoint *endpoint, const char *value)
{
	static size_t at;
	const char *colon = strchr(value, ':');

	if (!colon || at + strlen(value) + 2 > sizeof(endpoint->headers))
		settings_die(value);
	memcpy(endpoint->headers + at, value, strlen(value));
	endpoint->headers[at + (size_t)(colon - value)] = '\0';
	at += strlen(value) + 1;
}

static uint32_t find_word(const char *const *words, const char *word)
{
	uint32_t i = 0;

	while (words[i] && strcmp(words[i], word) != 0)
		i++;
	if (!words[i])
		settings_die(word);
	return i;
}

static bool take_number(struct settings *settings, const char *argument)
{
	struct endpoint *endpoint = &settings->endpoint;
	const struct {
		const char *name;
		uint64_t *to;
		uint64_t unit;
	} numbers[] = {
		{"request", &endpoint->request_bytes, 1},
		{"queue", &endpoint->queue_bytes, 1},
		{"age", &endpoint->queue_ns, NS_PER_MS},
		{"finish", &settings->finish, 1},
		{"port", &settings->port, 1},
	};
	const char *value;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if ((value = settings_value(argument, numbers[i].name))) {
			*numbers[i].to = strtoull(value, NULL, 10) * numbers[i].unit;
			return true;
		}
	return false;
}

static bool take_text(struct settings *settings, const char *argument)
{
	static const char *const protocols[] = {"grpc", "http", NULL};
	static const char *const codecs[] = {"identity", "gzip", "zstd", NULL};
	struct endpoint *endpoint = &settings->endpoint;
	const char *value;

	if ((value = settings_value(argument, "protocol")))
		endpoint->protocol = find_word(protocols, value);
	else if ((value = settings_value(argument, "compression")))
		endpoint->compression = find_word(codecs, value);
	else if ((value = settings_value(argument, "tls")))
		endpoint->is_tls = *value == '1';
	else if ((value = settings_value(argument, "timeout")))
		endpoint->timeout_ms = (uint32_t)strtoul(value, NULL, 10);
	else if ((value = settings_value(argument, "metrics")))
		endpoint->metrics_ms = (uint32_t)strtoul(value, NULL, 10);
	else if ((value = settings_value(argument, "host")))
		set_text(endpoint->host, sizeof(endpoint->host), value);
	else if ((value = settings_value(argument, "path")))
		set_text(endpoint->path, sizeof(endpoint->path), value);
	else if ((value = settings_value(argument, "address")))
		settings->address = value;
	else if ((value = settings_value(argument, "header")))
		add_header(endpoint, value);
	else
		return false;
	return true;
}

void settings_read(struct settings *ret_settings, char **arguments)
{
	struct endpoint *endpoint = &ret_settings->endpoint;

	*ret_settings = (struct settings){
		.endpoint = {.timeout_ms = 10000,
			     .host = "localhost",
			     .request_bytes = 3670016,
			     .queue_bytes = 64 << 20,
			     .queue_ns = 300 * NS_PER_SECOND},
		.address = "127.0.0.1",
		.finish = 10000,
	};
	while (*arguments &&
	       (take_number(ret_settings, *arguments) || take_text(ret_settings, *arguments)))
		arguments++;
	ret_settings->steps = arguments;
	snprintf(endpoint->authority, sizeof(endpoint->authority), "%s:%" PRIu64, endpoint->host,
		 ret_settings->port);
	if (!endpoint->path[0])
		set_text(endpoint->path, sizeof(endpoint->path),
			 endpoint->protocol == ENDPOINT_GRPC ? GRPC_PATH : HTTP_PATH);
	set_text(endpoint->metrics_path, sizeof(endpoint->metrics_path), METRICS_PATH);
}

int settings_connect(const struct settings *settings)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)settings->port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || inet_pton(AF_INET, settings->address, &address.sin_addr) != 1)
		settings_die("socket");
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		int error = errno;

		close(fd);
		return -error;
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

int settings_open(const char *path, uint64_t *ret_size)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &status) < 0)
		settings_die(path);
	*ret_size = (uint64_t)status.st_size;
	return fd;
}
