/* SPDX-License-Identifier: Apache-2.0 */
/* Where an agent's profiles go: URLs, words, headers, variables, and the configuration file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "helper/options/configuration.h"
#include "helper/options/destination.h"
#include "helper/options/environment.h"

static struct destination destination;

static int setup(void **state)
{
	static const char *const names[] = {
		"OTEL_EXPORTER_OTLP_ENDPOINT",
		"OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT",
		"OTEL_EXPORTER_OTLP_PROTOCOL",
		"OTEL_EXPORTER_OTLP_HEADERS",
		"OTEL_EXPORTER_OTLP_PROFILES_HEADERS",
		"OTEL_EXPORTER_OTLP_TIMEOUT",
		"OTEL_EXPORTER_OTLP_PROFILES_TIMEOUT",
		"OTEL_EXPORTER_OTLP_CERTIFICATE",
		"https_proxy",
		"HTTP_PROXY",
		"no_proxy",
	};

	(void)state;
	destination_init(&destination);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unsetenv(names[i]);
	return 0;
}

/* ---- URLs ------------------------------------------------------------------------------------ */

static void test_destination__urls(void **state)
{
	static const struct {
		const char *text;
		struct url url;
	} rows[] = {
		{"http://collector", {.host = "collector"}},
		{"HTTPS://a-b.example:4317/x/y",
		 {.is_tls = true, .port = 4317, .host = "a-b.example", .path = "/x/y"}},
		{"collector:1", {.port = 1, .host = "collector"}},
		{"http://[2001:db8::1]:65535/",
		 {.port = 65535, .is_quoted = true, .host = "2001:db8::1", .path = "/"}},
		{"http://me:%61%2Fb@proxy:3128", {.port = 3128, .user = "me:a/b", .host = "proxy"}},
		{"unix:/run/a.sock", {.is_unix = true, .host = "/run/a.sock"}},
		{"unix:///run/a.sock", {.is_unix = true, .host = "/run/a.sock"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct url url;

		assert_null(url_read(rows[i].text, &url));
		assert_int_equal(url.is_tls, rows[i].url.is_tls);
		assert_int_equal(url.is_unix, rows[i].url.is_unix);
		assert_int_equal(url.is_quoted, rows[i].url.is_quoted);
		assert_int_equal(url.port, rows[i].url.port);
		assert_string_equal(url.user, rows[i].url.user);
		assert_string_equal(url.host, rows[i].url.host);
		assert_string_equal(url.path, rows[i].url.path);
	}
}

static void test_destination__no_urls(void **state)
{
	static const char *const texts[] = {
		"",
		"http://",
		"ftp://host",
		"http://a b",
		"http://host:0",
		"http://host:x",
		"http://host:65536",
		"http://host:1:2",
		"http://[::1",
		"http://[host]:1",
		"http://ho%73t",
		"http://host/?a=b",
		"http://host/#",
		"unix:relative",
		"http://a:%0a@host",
		"http://a:%4@host",
		"http://host\n",
		"http://h\xc3\xb6st",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct url url;

		assert_non_null(url_read(texts[i], &url));
	}
}

/* ---- endpoints ------------------------------------------------------------------------------- */

#define HTTP_PATH "/v1development/profiles"
#define GRPC_PATH "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"

static void assert_goes_to(const char *host, uint32_t port, const char *authority, const char *path)
{
	assert_null(destination_finish(&destination));
	assert_string_equal(destination.address.host, host);
	assert_int_equal(destination.address.port, port);
	assert_string_equal(destination.endpoint.authority, authority);
	assert_string_equal(destination.endpoint.path, path);
}

static void test_destination__paths_and_ports(void **state)
{
	static const struct {
		const char *protocol, *url;
		bool base, is_tls;
		uint32_t port;
		const char *authority, *path;
	} rows[] = {
		{"http", "http://c:4318", false, false, 4318, "c:4318", HTTP_PATH},
		{"http", "http://c:4318/", false, false, 4318, "c:4318", HTTP_PATH},
		{"http", "http://c:4318/own", false, false, 4318, "c:4318", "/own"},
		{"http", "http://c:4318/otlp/", true, false, 4318, "c:4318", "/otlp" HTTP_PATH},
		{"http", "https://c", false, true, 443, "c:443", HTTP_PATH},
		{"http", "c", false, false, 4318, "c:4318", HTTP_PATH},
		{"grpc", "http://c", false, false, 80, "c:80", GRPC_PATH},
		{"grpc", "c", false, true, 4317, "c:4317", GRPC_PATH},
		{"grpc", "https://c:1/ignored", true, true, 1, "c:1", GRPC_PATH},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		setup(state);
		assert_null(destination_set_protocol(&destination, rows[i].protocol));
		if (rows[i].base)
			assert_null(destination_set_base(&destination, rows[i].url));
		else
			assert_null(destination_set_endpoint(&destination, rows[i].url));
		assert_goes_to("c", rows[i].port, rows[i].authority, rows[i].path);
		assert_int_equal(destination.endpoint.is_tls, rows[i].is_tls);
		assert_string_equal(destination.endpoint.host, "c");
	}
}

static void test_destination__unusual_hosts(void **state)
{
	assert_null(destination_set_endpoint(&destination, "http://[::1]:5"));
	assert_goes_to("::1", 5, "[::1]:5", HTTP_PATH);
	setup(state);
	assert_null(destination_set_endpoint(&destination, "unix:/run/c.sock"));
	assert_null(destination_set_protocol(&destination, "grpc"));
	assert_goes_to("/run/c.sock", 0, "localhost", GRPC_PATH);
	assert_int_equal(destination.endpoint.is_tls, 0);
}

static void test_destination__what_is_missing(void **state)
{
	(void)state;
	assert_non_null(destination_finish(&destination));
	assert_null(destination_set_endpoint(&destination, "http://c"));
	assert_null(destination_finish(&destination));
	assert_null(destination_set_file(&destination, FILE_CERTIFICATE, "a.pem"));
	assert_non_null(destination_finish(&destination));
	assert_null(destination_set_file(&destination, FILE_KEY, "a.key"));
	assert_null(destination_finish(&destination));
}

static void test_destination__words(void **state)
{
	(void)state;
	assert_non_null(destination_set_protocol(&destination, "http/json"));
	assert_non_null(destination_set_compression(&destination, "lz4"));
	assert_non_null(destination_set_insecure(&destination, "yes"));
	assert_non_null(destination_set_timeout(&destination, "0"));
	assert_non_null(destination_set_timeout(&destination, "10s"));
	assert_null(destination_set_timeout(&destination, "2500"));
	assert_int_equal(destination.endpoint.timeout_ms, 2500);
	assert_int_equal(destination.endpoint.compression, ENDPOINT_GZIP);
	assert_null(destination_set_compression(&destination, "ZSTD"));
	assert_int_equal(destination.endpoint.compression, ENDPOINT_ZSTD);
}

/* ---- headers --------------------------------------------------------------------------------- */

static const char *header(const char *name)
{
	const char *at = destination.endpoint.headers;

	while (*at) {
		const char *value = at + strlen(at) + 1;

		if (strcmp(at, name) == 0)
			return value;
		at = value + strlen(value) + 1;
	}
	return NULL;
}

static void test_destination__headers(void **state)
{
	(void)state;
	assert_null(destination_add_header(&destination, "Authorization=Bearer a=b%20,c"));
	assert_string_equal(header("authorization"), "Bearer a=b%20,c");
	assert_null(destination_add_headers(&destination, "x-a = 1 , X-B=%2c%20z,"));
	assert_string_equal(header("x-a"), "1");
	assert_string_equal(header("x-b"), ", z");
	/* the last value of a name counts */
	assert_null(destination_add_header(&destination, "X-A=2"));
	assert_string_equal(header("x-a"), "2");
	assert_string_equal(header("x-b"), ", z");
	assert_string_equal(header("authorization"), "Bearer a=b%20,c");
}

static void test_destination__no_headers(void **state)
{
	static const char *const headers[] = {"",      "name",	   "=value", "a b=c",
					      "a:b=c", "a=b\nc=d", "a=b\rc", "\xc3\xa4=b"};
	static char large[ENDPOINT_HEADERS_BYTES + 8] = "name=";

	(void)state;
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		assert_non_null(destination_add_header(&destination, headers[i]));
	assert_non_null(destination_add_headers(&destination, "a=%0d%0ab"));
	assert_non_null(destination_add_headers(&destination, "a=%00"));
	memset(large + 5, 'x', sizeof(large) - 6);
	assert_non_null(destination_add_header(&destination, large));
	large[ENDPOINT_HEADERS_BYTES - 2] = '\0';
	assert_null(destination_add_header(&destination, large));
	assert_non_null(destination_add_header(&destination, "a=b"));
}

/* ---- environment ----------------------------------------------------------------------------- */

static void test_destination__the_environment(void **state)
{
	const char *name;

	(void)state;
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "https://general:1/base", 1);
	setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", 1);
	setenv("OTEL_EXPORTER_OTLP_HEADERS", "a=general,b=general", 1);
	setenv("OTEL_EXPORTER_OTLP_PROFILES_HEADERS", "a=own", 1);
	setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "", 1);
	setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem", 1);
	assert_null(environment_read(&destination, &name));
	assert_goes_to("general", 1, "general:1", "/base" HTTP_PATH);
	assert_string_equal(header("a"), "own");
	assert_string_equal(header("b"), "general");
	assert_string_equal(destination.files[FILE_AUTHORITIES], "/ca.pem");
	setenv("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT", "http://own:2/as/it/is", 1);
	assert_null(environment_read(&destination, &name));
	assert_goes_to("own", 2, "own:2", "/as/it/is");
	setenv("OTEL_EXPORTER_OTLP_PROFILES_TIMEOUT", "soon", 1);
	assert_non_null(environment_read(&destination, &name));
	assert_string_equal(name, "OTEL_EXPORTER_OTLP_PROFILES_TIMEOUT");
}

static uint32_t proxy_for(const char *url, const char *none)
{
	const char *name;

	setup(NULL);
	setenv("https_proxy", "http://proxy:3128", 1);
	setenv("HTTP_PROXY", "http://of.a.header:1", 1);
	if (none)
		setenv("no_proxy", none, 1);
	assert_null(destination_set_endpoint(&destination, url));
	assert_null(destination_finish(&destination));
	assert_null(environment_read_proxy(&destination, &name));
	return destination.address.proxy_port;
}

static void test_destination__proxies(void **state)
{
	(void)state;
	assert_int_equal(proxy_for("https://c.example", NULL), 3128);
	assert_string_equal(destination.address.proxy_host, "proxy");
	assert_int_equal(proxy_for("http://c.example", NULL), 0);
	assert_int_equal(proxy_for("https://localhost", NULL), 0);
	assert_int_equal(proxy_for("https://127.0.0.1", NULL), 0);
	assert_int_equal(proxy_for("https://c.example", "x, example"), 0);
	assert_int_equal(proxy_for("https://c.example", ".example"), 0);
	assert_int_equal(proxy_for("https://c.example", "*"), 0);
	assert_int_equal(proxy_for("https://c.example", "ample,d.c.example"), 3128);
}

/* ---- the file -------------------------------------------------------------------------------- */

static char taken[256];

static const char *take(void *target, const char *argument, size_t value)
{
	(void)target;
	snprintf(taken + strlen(taken), sizeof(taken) - strlen(taken), "%zu:%s;", value,
		 argument ? argument : "-");
	return value == 9 ? "refused" : NULL;
}

#define VERB 4u

static const struct option_row rows[] = {
	{"endpoint", '\0', "URL", VERB, "", take, 1}, {"quiet", 'q', NULL, VERB, "", take, 2},
	{NULL, '\0', NULL, VERB, "text", NULL, 0},    {"other", 'o', "X", 1, "", take, 3},
	{"bad", 'b', "X", VERB, "", take, 9},
};

static const char *read_text(const char *text, unsigned int *ret_line)
{
	*taken = '\0';
	return configuration_read(text, strlen(text), rows, sizeof(rows) / sizeof(*rows), VERB,
				  NULL, ret_line);
}

static void test_destination__the_file(void **state)
{
	unsigned int line;

	(void)state;
	assert_null(read_text("# a comment\n\n version 1\r\nendpoint \t http://x  \n  quiet\n"
			      "#endpoint y\nendpoint a b",
			      &line));
	assert_string_equal(taken, "1:http://x;2:-;1:a b;");
	assert_null(read_text("", &line));
}

static void test_destination__no_file(void **state)
{
	static const struct {
		const char *text;
		unsigned int line;
	} wrong[] = {
		{"endpoint x\n", 1},
		{"\nversion 2\n", 2},
		{"version 1\nversion 1\n", 2},
		{"version 1\nendpoint\n", 2},
		{"version 1\n\nquiet yes\n", 3},
		{"version 1\nother x\n", 2},
		{"version 1\nq\n", 2},
		{"version 1\n--endpoint x\n", 2},
		{"version 1\nbad x\nendpoint y\n", 2},
	};
	unsigned int line;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_non_null(read_text(wrong[i].text, &line));
		assert_int_equal(line, wrong[i].line);
	}
	assert_non_null(configuration_read("version 1\n\0", 11, rows, 1, VERB, NULL, &line));
	assert_non_null(
		configuration_read("", CONFIGURATION_BYTES_MAX + 1, rows, 1, VERB, NULL, &line));
}

#define TEST(name) cmocka_unit_test_setup(test_destination__##name, setup)

/* Metrics go where the path of profiles says that they do, else to the root. */
static void test_destination__path_of_metrics(void **state)
{
	static const struct {
		const char *url, *path;
	} cases[] = {
		{"http://x", "/v1/metrics"},
		{"http://x/", "/v1/metrics"},
		{"http://x/a/v1development/profiles", "/a/v1/metrics"},
		{"http://x/of/profiles", "/v1/metrics"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setup(state);
		assert_null(destination_set_endpoint(&destination, cases[i].url));
		assert_null(destination_finish(&destination));
		assert_string_equal(destination.endpoint.metrics_path, cases[i].path);
	}
	setup(state);
	assert_null(destination_set_base(&destination, "http://x/base/"));
	assert_null(destination_finish(&destination));
	assert_string_equal(destination.endpoint.metrics_path, "/base/v1/metrics");
	assert_null(destination_set_protocol(&destination, "grpc"));
	assert_null(destination_finish(&destination));
	assert_string_equal(destination.endpoint.metrics_path,
			    "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export");
	assert_null(destination_set_metrics(&destination, "60"));
	assert_int_equal(destination.endpoint.metrics_ms, 60000);
	assert_non_null(destination_set_metrics(&destination, "0"));
	assert_non_null(destination_set_metrics(&destination, "3601"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(urls),
		TEST(no_urls),
		TEST(paths_and_ports),
		TEST(unusual_hosts),
		TEST(what_is_missing),
		TEST(words),
		TEST(headers),
		TEST(no_headers),
		TEST(the_environment),
		TEST(proxies),
		TEST(the_file),
		TEST(no_file),
		TEST(path_of_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
