/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop of an unprivileged process. Privileged ones keep poll(): a library less. */
#ifndef KEYHOLE_BASE_LOOP_H
#define KEYHOLE_BASE_LOOP_H

struct event_base;

/*
 * Makes a loop over epoll, to be freed with event_base_free(). Opens all its descriptors at once,
 * so that a process makes the loop before the process confines itself. NULL: no memory, no
 * descriptor.
 */
struct event_base *loop_new(void);

#endif
