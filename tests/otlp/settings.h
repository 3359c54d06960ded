/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments that the programs of this folder share, NAME=VALUE. Words: protocol, compression,
 * tls, host, address, path and header=NAME:VALUE. Numbers: port, timeout, request, queue, age,
 * finish, and metrics, which the exporter alone sends; times in ms and sizes in bytes. Steps follow
 * these settings.
 */
#ifndef KEYHOLE_TESTS_SETTINGS_H
#define KEYHOLE_TESTS_SETTINGS_H

#include <stdint.h>

#include "ipc/destination.h"

struct settings {
	struct endpoint endpoint;
	const char *address;
	uint64_t port, finish;
	char **steps; /* ends with NULL */
};

/* A wrong setting ends the process. */
void settings_read(struct settings *ret_settings, char **arguments);
/* Returns the value of "name=value", or NULL for another argument. */
const char *settings_value(const char *argument, const char *name);
/* Returns a connected, non-blocking socket to address and port, or a negative errno. */
int settings_connect(const struct settings *settings);
/* Opens the file. One that is missing ends the process. */
int settings_open(const char *path, uint64_t *ret_size);
/* Says what failed, with errno, and ends the process. */
void settings_die(const char *what) __attribute__((noreturn));

#endif
