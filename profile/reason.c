/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "profile/profile.h"

static const struct profile_reason reasons[] = {
#define X(name, class, help) {#name, CLASS_##class, help},
#include "bpf/counters.def"
#undef X
	/* of files alone: behind each enum sample_reason */
	{"cut_unknown", CLASS_CUT,
	 "for a reason of another version of keyhole, which wrote the file"},
};

_Static_assert(sizeof(reasons) / sizeof(reasons[0]) <= PROFILE_REASONS_MAX, "all reasons fit");

const struct profile_reason *profile_reason(uint32_t reason)
{
	if (reason >= sizeof(reasons) / sizeof(reasons[0]))
		return NULL;
	return &reasons[reason];
}

/* Returns the reason of the name, or the number of reasons. */
static uint32_t find_reason(const char *name)
{
	uint32_t i = 0;

	while (profile_reason(i) && strcmp(reasons[i].name, name) != 0)
		i++;
	return i;
}

uint32_t profile_reason_find(const char *name)
{
	const uint32_t reason = find_reason(name);

	if (profile_reason(reason))
		return reason;
	if (strncmp(name, "end_", strlen("end_")) == 0)
		return find_reason("end_root");
	if (strncmp(name, "guess_", strlen("guess_")) == 0)
		return find_reason("guess_root");
	return find_reason("cut_unknown");
}

bool profile_reason_is_cut(uint32_t reason)
{
	const struct profile_reason *row = profile_reason(reason);

	return row && row->class == CLASS_CUT;
}

bool profile_reason_is_guess(uint32_t reason)
{
	const struct profile_reason *row = profile_reason(reason);

	return row && row->class == CLASS_GUESS;
}

bool profile_reason_is_told(uint32_t reason)
{
	return profile_reason_is_cut(reason) || profile_reason_is_guess(reason);
}
