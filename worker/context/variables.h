/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables of a process's environment, "NAME=value" and a NUL for each, become attributes.
 * OTEL_SERVICE_NAME is the service's name, and OTEL_RESOURCE_ATTRIBUTES has a list of attributes
 * (OpenTelemetry's specification, resource/sdk.md). Others are process.environment_variable.NAME.
 */
#ifndef KEYHOLE_WORKER_CONTEXT_VARIABLES_H
#define KEYHOLE_WORKER_CONTEXT_VARIABLES_H

#include <stddef.h>

struct attributes;

/* Ignores what follows the last NUL. */
void variables_read(const char *bytes, size_t size, struct attributes *attributes);

#endif
