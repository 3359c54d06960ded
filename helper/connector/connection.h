/* SPDX-License-Identifier: Apache-2.0 */
/* Connects to a host and a port by name, or to a unix socket. */
#ifndef KEYHOLE_HELPER_CONNECTOR_CONNECTION_H
#define KEYHOLE_HELPER_CONNECTOR_CONNECTION_H

#include <stdint.h>

/*
 * Looks the name up and tries its addresses one after another. Each address gets an equal part of
 * the time that is left. until: monotonic time in ns; the look-up itself keeps the times of
 * resolv.conf(5). Returns a non-blocking socket, which the caller owns, or a negative errno.
 * -EHOSTUNREACH: the name has no address. -EAGAIN: no name server answered. Any other error is that
 * of the last address.
 */
int connection_open(const char *host, uint32_t port, uint64_t until);

/* Waits until the socket is ready for that, POLLIN or POLLOUT. Returns 0 or -ETIMEDOUT. */
int connection_wait(int fd, short what, uint64_t until);

/* Connects to the unix socket at the path. Returns as connection_open() does. */
int connection_open_path(const char *path);

#endif
