/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/decimal.h"
#include "base/memory_file.h"
#include "helper/options/page.h"
#include "helper/options/pairs.h"
#include "helper/options/wanted.h"
#include "ipc/guard.h"
#include "ipc/time.h"

#define TIMEOUT_MS     10000u
#define TIMEOUT_MAX_MS 600000u
#define CONNECT_MS     10000u
#define REQUEST_BYTES  (3584u << 10) /* receivers refuse 4 MiB: gRPC's own limit */
#define QUEUE_BYTES    (64u << 20)
#define QUEUE_NS       (300 * NS_PER_SECOND)
#define GRPC_PORT      4317u
#define HTTP_PORT      4318u
#define PROXY_PORT     8080u

#define METRICS_MAX_SECONDS 3600u

#define GRPC_PATH "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
#define HTTP_PATH "/v1development/profiles"

#define GRPC_METRICS_PATH "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
#define HTTP_METRICS_PATH "/v1/metrics"

struct word {
	const char *name;
	uint32_t value;
};

void destination_init(struct destination *ret_destination)
{
	memset(ret_destination, 0, sizeof(*ret_destination));
	ret_destination->endpoint.protocol = ENDPOINT_HTTP;
	ret_destination->endpoint.compression = ENDPOINT_GZIP;
	ret_destination->endpoint.timeout_ms = TIMEOUT_MS;
	ret_destination->endpoint.request_bytes = REQUEST_BYTES;
	ret_destination->endpoint.queue_bytes = QUEUE_BYTES;
	ret_destination->endpoint.queue_ns = QUEUE_NS;
	ret_destination->address.timeout_ms = CONNECT_MS;
}

/* ---- single words ---------------------------------------------------------------------------- */

static const char *set_url(struct destination *destination, const char *url)
{
	destination->is_given = true;
	destination->has_scheme = strstr(url, "://") != NULL;
	return url_read(url, &destination->url);
}

const char *destination_set_base(struct destination *destination, const char *url)
{
	destination->is_complete = false;
	return set_url(destination, url);
}

const char *destination_set_endpoint(struct destination *destination, const char *url)
{
	const char *reason = set_url(destination, url);

	destination->is_complete = strlen(destination->url.path) > 1;
	return reason;
}

/* Finds the word in a table that ends with a NULL. */
static const struct word *find(const struct word *words, const char *name)
{
	while (words->name && strcasecmp(words->name, name) != 0)
		words++;
	if (!words->name)
		return NULL;
	return words;
}

const char *destination_set_insecure(struct destination *destination, const char *word)
{
	static const struct word words[] = {{"true", 1}, {"false", 0}, {NULL, 0}};
	const struct word *found = find(words, word);

	if (!found)
		return "not true or false";
	destination->is_insecure = found->value;
	return NULL;
}

const char *destination_set_protocol(struct destination *destination, const char *name)
{
	static const struct word words[] = {{"grpc", ENDPOINT_GRPC},
					    {"http/protobuf", ENDPOINT_HTTP},
					    {"http", ENDPOINT_HTTP},
					    {NULL, 0}};
	const struct word *found = find(words, name);

	if (!found)
		return "not a protocol; take grpc or http/protobuf";
	destination->endpoint.protocol = found->value;
	return NULL;
}

const char *destination_set_compression(struct destination *destination, const char *name)
{
	static const struct word words[] = {{"none", ENDPOINT_PLAIN},
					    {"gzip", ENDPOINT_GZIP},
					    {"zstd", ENDPOINT_ZSTD},
					    {NULL, 0}};
	const struct word *found = find(words, name);

	if (!found)
		return "not a compression; take none, gzip or zstd";
	destination->endpoint.compression = found->value;
	return NULL;
}

const char *destination_set_timeout(struct destination *destination, const char *milliseconds)
{
	uint32_t *timeout = &destination->endpoint.timeout_ms;

	if (!decimal_read32(milliseconds, 1, TIMEOUT_MAX_MS, timeout))
		return "not a time in milliseconds, 1 to 600000";
	return NULL;
}

const char *destination_set_file(struct destination *destination, enum wanted_file file,
				 const char *path)
{
	if (strlen(path) >= WANTED_PATH_BYTES)
		return "the path is too long";
	snprintf(destination->files[file], WANTED_PATH_BYTES, "%s", path);
	return NULL;
}

const char *destination_set_proxy(struct destination *destination, const char *text)
{
	struct address *address = &destination->address;
	struct url url;
	const char *reason = url_read(text, &url);

	if (reason)
		return reason;
	if (url.is_tls || url.is_unix)
		return "a proxy has the scheme http";
	memcpy(address->proxy_host, url.host, sizeof(url.host));
	memcpy(address->proxy_credentials, url.user, sizeof(url.user));
	address->proxy_port = url.port;
	if (!url.port)
		address->proxy_port = PROXY_PORT;
	return NULL;
}

const char *destination_set_page(struct destination *destination, const char *address)
{
	return page_read_address(address, &destination->listener);
}

const char *destination_set_metrics(struct destination *destination, const char *seconds)
{
	uint32_t number;

	if (!decimal_read32(seconds, 1, METRICS_MAX_SECONDS, &number))
		return "not a number of seconds, 1 to 3600";
	destination->endpoint.metrics_ms = number * 1000;
	return NULL;
}

/* ---- lists, NAME=VALUE,NAME=VALUE ------------------------------------------------------------ */

/* Adds each pair of the list, up to the first one that has a reason against it. */
static const char *add_each(struct destination *destination, const char *list,
			    const char *(*add)(struct destination *destination, char *pair))
{
	guard_free char *text = strdup(list);
	const char *reason = NULL;
	char *rest = text;

	if (!text)
		return "no memory";
	while (rest && !reason) {
		char *pair = strsep(&rest, ",");

		if (*pairs_trim(pair))
			reason = add(destination, pair);
	}
	return reason;
}

/* ---- headers --------------------------------------------------------------------------------- */

/* RFC 9110, 5.1: token characters. The names of HTTP/2 are in lower case. */
static bool make_name(char *name)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	for (char *at = name; *at; at++) {
		if (*at >= 'A' && *at <= 'Z')
			*at = (char)(*at - 'A' + 'a');
		else if (!(*at >= 'a' && *at <= 'z') && !(*at >= '0' && *at <= '9') &&
			 !strchr(others, *at))
			return false;
	}
	return *name != '\0';
}

static bool is_value(const char *value)
{
	for (; *value; value++)
		if ((unsigned char)*value < ' ' || *value == 0x7f)
			return false;
	return true;
}

static const char *put_header(struct destination *destination, const char *name, const char *value)
{
	struct pairs headers = {destination->endpoint.headers, ENDPOINT_HEADERS_BYTES};

	if (!pairs_put(&headers, name, value))
		return "too many headers";
	return NULL;
}

static const char *add_header(struct destination *destination, char *header, bool is_encoded)
{
	char *value = strchr(header, '='), *name;

	if (!value)
		return "not a header, NAME=VALUE";
	*value++ = '\0';
	name = pairs_trim(header);
	value = pairs_trim(value);
	if (is_encoded && (!url_decode(name) || !url_decode(value)))
		return "not a list of headers, NAME=VALUE,NAME=VALUE with %XX";
	if (!make_name(name) || !is_value(value))
		return "has a character that no header has";
	return put_header(destination, name, value);
}

const char *destination_add_header(struct destination *destination, const char *header)
{
	guard_free char *text = strdup(header);

	if (!text)
		return "no memory";
	return add_header(destination, text, false);
}

static const char *add_encoded_header(struct destination *destination, char *header)
{
	return add_header(destination, header, true);
}

const char *destination_add_headers(struct destination *destination, const char *list)
{
	return add_each(destination, list, add_encoded_header);
}

/* ---- resources ------------------------------------------------------------------------------- */

static const char *put_attribute(struct destination *destination, const char *key,
				 const char *value)
{
	struct pairs pairs = {destination->resource.pairs, RESOURCE_PAIRS_BYTES};

	if (!*key)
		return "an attribute has no name";
	if (strlen(key) >= RESOURCE_WORD_BYTES || strlen(value) >= RESOURCE_WORD_BYTES)
		return "a name or a value has more than 255 bytes";
	if (!pairs_put(&pairs, key, value) || pairs_count(&pairs) > RESOURCE_PAIRS_MAX)
		return "more than 32 attributes, or 8 KiB of them";
	return NULL;
}

static const char *add_attribute(struct destination *destination, char *pair)
{
	char *value = strchr(pair, '='), *key;

	if (!value)
		return "not a list of attributes, NAME=VALUE,NAME=VALUE";
	*value++ = '\0';
	key = pairs_trim(pair);
	value = pairs_trim(value);
	if (!url_decode(key) || !url_decode(value))
		return "not a list of attributes, NAME=VALUE,NAME=VALUE with %XX";
	return put_attribute(destination, key, value);
}

const char *destination_add_attributes(struct destination *destination, const char *list)
{
	return add_each(destination, list, add_attribute);
}

const char *destination_set_service(struct destination *destination, const char *name)
{
	return put_attribute(destination, "service.name", name);
}

/* ---- all together ---------------------------------------------------------------------------- */

static uint32_t port_of(const struct destination *destination)
{
	if (destination->url.is_unix)
		return 0;
	if (destination->url.port)
		return destination->url.port;
	/* OpenTelemetry's ports where nothing is known; the scheme's own where a scheme is given */
	if (destination->has_scheme)
		return destination->url.is_tls ? 443 : 80;
	if (destination->endpoint.protocol == ENDPOINT_GRPC)
		return GRPC_PORT;
	return HTTP_PORT;
}

static const char *finish_path(struct destination *destination)
{
	struct endpoint *endpoint = &destination->endpoint;
	const char *base = destination->url.path, *own = "";
	size_t length = strlen(base);
	int written;

	if (endpoint->protocol == ENDPOINT_GRPC) {
		snprintf(endpoint->path, sizeof(endpoint->path), "%s", GRPC_PATH);
		return NULL;
	}
	if (!destination->is_complete) {
		own = HTTP_PATH;
		while (length > 0 && base[length - 1] == '/')
			length--;
	}
	written =
		snprintf(endpoint->path, sizeof(endpoint->path), "%.*s%s", (int)length, base, own);
	if (written < 0 || (size_t)written >= sizeof(endpoint->path))
		return "its path is too long";
	return NULL;
}

/* A path that was given whole is that of profiles, and says nothing unless it ends as theirs do. */
static const char *finish_metrics_path(struct destination *destination)
{
	struct endpoint *endpoint = &destination->endpoint;
	size_t length = strlen(endpoint->path);
	const size_t own = strlen(HTTP_PATH);
	int written;

	if (endpoint->protocol == ENDPOINT_GRPC) {
		snprintf(endpoint->metrics_path, sizeof(endpoint->metrics_path), "%s",
			 GRPC_METRICS_PATH);
		return NULL;
	}
	if (length >= own && !strcmp(endpoint->path + length - own, HTTP_PATH))
		length -= own;
	else
		length = 0;
	written = snprintf(endpoint->metrics_path, sizeof(endpoint->metrics_path), "%.*s%s",
			   (int)length, endpoint->path, HTTP_METRICS_PATH);
	if (written < 0 || (size_t)written >= sizeof(endpoint->metrics_path))
		return "its path is too long";
	return NULL;
}

static void finish_authority(struct destination *destination)
{
	struct endpoint *endpoint = &destination->endpoint;
	const struct url *url = &destination->url;
	const char *format = "%s:%u";

	if (url->is_unix) {
		snprintf(endpoint->authority, sizeof(endpoint->authority), "localhost");
		snprintf(endpoint->host, sizeof(endpoint->host), "localhost");
		return;
	}
	if (url->is_quoted)
		format = "[%s]:%u";
	snprintf(endpoint->authority, sizeof(endpoint->authority), format, url->host,
		 destination->address.port);
	memcpy(endpoint->host, url->host, sizeof(url->host));
}

const char *destination_finish(struct destination *destination)
{
	struct endpoint *endpoint = &destination->endpoint;
	const char *const *files = (const char *const[]){destination->files[FILE_CERTIFICATE],
							 destination->files[FILE_KEY]};
	const char *reason;

	if (!destination->is_given)
		return "no endpoint; name one, as in: --endpoint http://localhost:4318";
	if (!*files[0] != !*files[1])
		return "a client certificate needs its key, and a key its certificate";
	endpoint->is_tls = destination->url.is_tls;
	if (!destination->has_scheme && !destination->url.is_unix &&
	    endpoint->protocol == ENDPOINT_GRPC)
		endpoint->is_tls = !destination->is_insecure;
	destination->address.port = port_of(destination);
	memcpy(destination->address.host, destination->url.host, sizeof(destination->url.host));
	if (destination->url.is_unix)
		destination->address.proxy_port = 0;
	finish_authority(destination);
	reason = finish_path(destination);
	if (reason)
		return reason;
	return finish_metrics_path(destination);
}

/* ---- to the loader --------------------------------------------------------------------------- */

static int send_part(struct channel *loader, enum destination_part part, const void *bytes,
		     size_t size)
{
	const struct message_destination destination = {.part = part};
	guard_fd int fd = memory_file("keyhole-destination");

	if (fd < 0)
		return fd;
	if (pwrite(fd, bytes, size, 0) != (ssize_t)size)
		return -EIO;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	return channel_send(loader, MESSAGE_DESTINATION, &destination, sizeof(destination), fd);
}

int destination_send_page(const struct destination *destination, struct channel *loader)
{
	if (destination->listener.family == 0)
		return 0;
	return send_part(loader, DESTINATION_LISTENER, &destination->listener,
			 sizeof(destination->listener));
}

int destination_send(const struct destination *destination, struct channel *loader,
		     const char **ret_path)
{
	int r = 0;

	*ret_path = NULL;
	for (uint32_t file = FILE_AUTHORITIES; file < WANTED_FILES; file++) {
		if (!*destination->files[file])
			continue;
		r = wanted_open(loader, (enum wanted_file)file, destination->files[file]);
		if (r < 0) {
			*ret_path = destination->files[file];
			return r;
		}
	}
	if (destination->resource.pairs[0])
		r = send_part(loader, DESTINATION_RESOURCE, &destination->resource,
			      sizeof(destination->resource));
	if (r < 0)
		return r;
	r = send_part(loader, DESTINATION_ENDPOINT, &destination->endpoint,
		      sizeof(destination->endpoint));
	if (r < 0)
		return r;
	return send_part(loader, DESTINATION_ADDRESS, &destination->address,
			 sizeof(destination->address));
}
