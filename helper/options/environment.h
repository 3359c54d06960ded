/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of OpenTelemetry and of proxies that say where profiles go. */
#ifndef KEYHOLE_HELPER_OPTIONS_ENVIRONMENT_H
#define KEYHOLE_HELPER_OPTIONS_ENVIRONMENT_H

#include "helper/options/destination.h"

/*
 * Reads the variables, each of which may be unset or empty. Returns NULL, or why *ret_name is
 * refused.
 */
const char *environment_read(struct destination *destination, const char **ret_name);

/*
 * Takes the proxy of https_proxy or http_proxy, once the endpoint is known and where no proxy was
 * given, unless no_proxy has the host. Returns as environment_read() does.
 */
const char *environment_read_proxy(struct destination *destination, const char **ret_name);

#endif
