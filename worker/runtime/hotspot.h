/* SPDX-License-Identifier: Apache-2.0 */
/* Java's HotSpot, by its description of itself: finds its code, and how its frames look. */
#ifndef KEYHOLE_WORKER_RUNTIME_HOTSPOT_H
#define KEYHOLE_WORKER_RUNTIME_HOTSPOT_H

struct runtime_handler;

extern const struct runtime_handler hotspot_handler;

#endif
