/* SPDX-License-Identifier: Apache-2.0 */
/* Names the kind of a frame, as OpenTelemetry's attribute profile.frame.type has it. */
#ifndef KEYHOLE_PROFILE_FORMAT_FRAME_TYPE_H
#define KEYHOLE_PROFILE_FORMAT_FRAME_TYPE_H

#include <stdbool.h>
#include <stdint.h>

struct profile;

/*
 * Returns the type of a location's code: a constant. Native code is "rust" or "go" where the
 * function or the object tells so. Frames of our own, as "[cut: …]", are "abort-marker", as
 * OpenTelemetry's eBPF profiler has it.
 *
 * compat: a type that devfiler refuses becomes "native". devfiler refuses a whole request for one
 * frame.
 */
const char *frame_type(const struct profile *profile, uint32_t location, bool compat);

#endif
