/* SPDX-License-Identifier: Apache-2.0 */
/* PHP, of builds without threads: finds its list of frames, and how they look. */
#ifndef KEYHOLE_WORKER_RUNTIME_PHP_H
#define KEYHOLE_WORKER_RUNTIME_PHP_H

struct runtime_handler;

extern const struct runtime_handler php_handler;

#endif
