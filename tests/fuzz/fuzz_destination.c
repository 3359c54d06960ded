/* SPDX-License-Identifier: Apache-2.0 */
/* Where an agent's profiles go: a configuration file, whose options take URLs and headers. */
#include <stdlib.h>
#include <string.h>

#include "helper/connector/proxy.h"
#include "helper/options/configuration.h"
#include "helper/options/environment.h"
#include "helper/options/setters.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every header has a name, and the list ends within its room. */
static void check_headers(const struct destination *destination)
{
	const char *at = destination->endpoint.headers, *end = at + ENDPOINT_HEADERS_BYTES;

	while (at < end && *at) {
		at += strnlen(at, (size_t)(end - at)) + 1;
		if (at >= end)
			abort();
		at += strnlen(at, (size_t)(end - at)) + 1;
	}
	if (at >= end)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct destination destination;
	struct message_options options = {0};
	struct line line = {.options = &options, .destination = &destination};
	char *text = strndup((const char *)data, size);
	char request[2048];
	unsigned int number;

	filters_init(&line.filters, &options);
	destination_init(&destination);
	proxy_read_answer((const char *)data, size);
	configuration_read((const char *)data, size, setters_rows, setters_count, CONFIG, &line,
			   &number);
	destination_add_headers(&destination, text);
	destination_set_proxy(&destination, text);
	destination_set_page(&destination, text);
	if (!destination_set_endpoint(&destination, text))
		destination_finish(&destination);
	check_headers(&destination);
	proxy_request(&destination.address, request, sizeof(request));
	free(text);
	return 0;
}
