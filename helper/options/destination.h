/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the agent's profiles go, collected from configuration file, environment and flags, in this
 * order: the last word counts. Texts are checked as they come, and put together by
 * destination_finish(). The names and defaults are those of OpenTelemetry's exporter specification
 * (protocol/exporter.md, 1.5x), whose protocol http/protobuf is the default here as well.
 *
 * The functions that return a text return NULL, or why an argument is refused, valid until the next
 * call.
 */
#ifndef KEYHOLE_HELPER_OPTIONS_DESTINATION_H
#define KEYHOLE_HELPER_OPTIONS_DESTINATION_H

#include <stdbool.h>
#include <stdint.h>

#include "helper/options/url.h"
#include "ipc/channel.h"
#include "ipc/destination.h"

struct destination {
	struct endpoint endpoint;
	struct address address;
	struct url url;
	bool is_given;	  /* an endpoint was named */
	bool is_complete; /* the path of the URL is the whole path */
	bool has_scheme, is_insecure;
	uint32_t headers;			     /* bytes used of endpoint.headers */
	char files[WANTED_FILES][WANTED_PATH_BYTES]; /* "": none; FILE_CONFIG is unused */
	struct listener listener;		     /* family 0: none */
};

void destination_init(struct destination *ret_destination);

/* A base: the path of the signal is added to the URL's, as the environment's general endpoint. */
const char *destination_set_base(struct destination *destination, const char *url);
/* The URL as it is. With a path of none or "/", the path of the signal is added. */
const char *destination_set_endpoint(struct destination *destination, const char *url);
/* "true" or "false": whether an endpoint without a scheme is spoken to in plain text. */
const char *destination_set_insecure(struct destination *destination, const char *word);
const char *destination_set_protocol(struct destination *destination, const char *name);
const char *destination_set_compression(struct destination *destination, const char *name);
const char *destination_set_timeout(struct destination *destination, const char *milliseconds);
const char *destination_set_file(struct destination *destination, enum wanted_file file,
				 const char *path);
/* "name=value", not encoded. Replaces an earlier value of the name. */
const char *destination_add_header(struct destination *destination, const char *header);
/* "name=value,name=value", percent-encoded, as the environment has them. */
const char *destination_add_headers(struct destination *destination, const char *list);
const char *destination_set_proxy(struct destination *destination, const char *url);
const char *destination_set_metrics(struct destination *destination, const char *seconds);
const char *destination_set_page(struct destination *destination, const char *address);

/* Puts endpoint and address together. Returns why that is not possible, or NULL. */
const char *destination_finish(struct destination *destination);

/* Sends where numbers are shown, if anywhere. Returns 0 or a negative errno. */
int destination_send_page(const struct destination *destination, struct channel *loader);

/*
 * Has the loader open the files of certificates, and sends endpoint and address. Returns 0 or a
 * negative errno; *ret_path is then the file that could not be opened, or NULL.
 */
int destination_send(const struct destination *destination, struct channel *loader,
		     const char **ret_path);

#endif
