/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket of a service manager, see sd_notify(3). The loader writes to the socket, because the
 * manager accepts messages only from the main process of a service.
 */
#ifndef KEYHOLE_HELPER_OUTPUT_NOTIFY_H
#define KEYHOLE_HELPER_OUTPUT_NOTIFY_H

/* Connects a socket to the address in NOTIFY_SOCKET. -ENODATA: the variable is not set. */
int notify_open(void);

#endif
