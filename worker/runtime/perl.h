/* SPDX-License-Identifier: Apache-2.0 */
/* Perl with threads, as Debian builds it, also within other programs. */
#ifndef KEYHOLE_WORKER_RUNTIME_PERL_H
#define KEYHOLE_WORKER_RUNTIME_PERL_H

#include "worker/runtime/runtime.h"

extern const struct runtime_handler perl_handler;

#endif
