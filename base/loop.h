/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop of an unprivileged process. A privileged process calls poll(2) and so has one
 * library less.
 */
#ifndef KEYHOLE_BASE_LOOP_H
#define KEYHOLE_BASE_LOOP_H

struct event_base;

/*
 * Makes a loop over epoll, to be freed with event_base_free(). Opens all descriptors of the loop at
 * once, so a process can make the loop before it confines itself. NULL: no memory, or no
 * descriptor.
 */
struct event_base *loop_new(void);

#endif
