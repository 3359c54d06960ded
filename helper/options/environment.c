/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ipc/guard.h"

#define GENERAL "OTEL_EXPORTER_OTLP_"
#define SIGNAL	"OTEL_EXPORTER_OTLP_PROFILES_"

typedef const char *setter(struct destination *destination, const char *value);

static const char *set_authorities(struct destination *destination, const char *path)
{
	return destination_set_file(destination, FILE_AUTHORITIES, path);
}

static const char *set_certificate(struct destination *destination, const char *path)
{
	return destination_set_file(destination, FILE_CERTIFICATE, path);
}

static const char *set_key(struct destination *destination, const char *path)
{
	return destination_set_file(destination, FILE_KEY, path);
}

/* In the order in which they are read. The endpoints end with the signal's own. */
static const struct variable {
	const char *name;
	setter *set;
} variables[] = {
	{GENERAL "ENDPOINT", destination_set_base},
	{SIGNAL "ENDPOINT", destination_set_endpoint},
	{"OTEL_RESOURCE_ATTRIBUTES", destination_add_attributes},
	{"OTEL_SERVICE_NAME", destination_set_service},
#define VARIABLE(name, set) {GENERAL name, set}, {SIGNAL name, set},
#include "helper/options/variables.def"
#undef VARIABLE
};

/* An empty variable is the same as none (specification/configuration/sdk-environment-variables). */
static const char *value_of(const char *name)
{
	const char *value = getenv(name);

	if (!value || !*value)
		return NULL;
	return value;
}

const char *environment_read(struct destination *destination, const char **ret_name)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		const char *value = value_of(variables[i].name), *reason;

		if (!value)
			continue;
		*ret_name = variables[i].name;
		reason = variables[i].set(destination, value);
		if (reason)
			return reason;
	}
	return NULL;
}

/* ---- proxies --------------------------------------------------------------------------------- */

/* Returns whether the host is the domain or lies below it. "*" is every host. */
static bool is_within(const char *host, const char *domain)
{
	size_t host_length, length;

	if (strcmp(domain, "*") == 0)
		return true;
	domain += *domain == '.';
	host_length = strlen(host);
	length = strlen(domain);
	if (length == 0 || length > host_length)
		return false;
	if (strcasecmp(host + host_length - length, domain) != 0)
		return false;
	return length == host_length || host[host_length - length - 1] == '.';
}

static bool needs_no_proxy(const char *host)
{
	const char *list = value_of("no_proxy");
	guard_free char *text = NULL;
	char *rest, *domain;

	/* as curl and Go do: the machine itself is never behind a proxy */
	if (is_within(host, "localhost") || !strncmp(host, "127.", 4) || !strcmp(host, "::1"))
		return true;
	if (!list)
		list = value_of("NO_PROXY");
	if (!list)
		return false;
	text = strdup(list);
	rest = text;
	while ((domain = strsep(&rest, ", ")) != NULL)
		if (is_within(host, domain))
			return true;
	return false;
}

const char *environment_read_proxy(struct destination *destination, const char **ret_name)
{
	static const char *const names[2][3] = {{"http_proxy", NULL, NULL},
						{"https_proxy", "HTTPS_PROXY", NULL}};
	const char *const *name = names[destination->endpoint.is_tls != 0];

	if (destination->address.proxy_port || destination->url.is_unix ||
	    needs_no_proxy(destination->url.host))
		return NULL;
	/* HTTP_PROXY is no name here: a CGI program has a header's value in that variable. */
	for (; *name; name++) {
		*ret_name = *name;
		if (value_of(*name))
			return destination_set_proxy(destination, value_of(*name));
	}
	return NULL;
}
