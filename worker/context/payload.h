/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The payload of a process context: opentelemetry.proto.processcontext.v1development.ProcessContext
 * of opentelemetry-proto (OTEP 4719). The resource's attributes count whose values are strings,
 * numbers or booleans: they become text.
 */
#ifndef KEYHOLE_WORKER_CONTEXT_PAYLOAD_H
#define KEYHOLE_WORKER_CONTEXT_PAYLOAD_H

#include <stddef.h>

struct attributes;

/* Adds the attributes. Returns 0, or -EBADMSG for a malformed message. */
int payload_read(const void *bytes, size_t size, struct attributes *attributes);

#endif
