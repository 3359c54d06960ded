/* SPDX-License-Identifier: Apache-2.0 */
/* Ruby: finds its control frames, and how they look. */
#ifndef KEYHOLE_WORKER_RUNTIME_RUBY_H
#define KEYHOLE_WORKER_RUNTIME_RUBY_H

struct runtime_handler;

extern const struct runtime_handler ruby_handler;

#endif
