/* SPDX-License-Identifier: Apache-2.0 */
/* What a service manager is told, see sd_notify(3): nothing where NOTIFY_SOCKET is not set. */
#ifndef KEYHOLE_HELPER_OUTPUT_NOTIFY_H
#define KEYHOLE_HELPER_OUTPUT_NOTIFY_H

/* 0 or a negative errno. */
int notify_open(void);

/* Without waiting: what the manager has no room for is lost. */
void notify_send(const char *state);

#endif
