/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/format/format.h"

#include <string.h>

#include "ipc/messages.h"
#include "profile/profile.h"

static const struct format *const formats[FORMAT_COUNT] = {
#define F(number, id, name, suffix, help) [FORMAT_##id] = &format_##id,
#include "ipc/formats.def"
#undef F
};

const struct format *format_find(uint32_t id)
{
	if (id >= FORMAT_COUNT)
		return NULL;
	return formats[id];
}

struct format_worth format_worth(const struct profile_times *times)
{
	if (times->type)
		return (struct format_worth){.type = times->type, .unit = times->unit};
	if (times->event)
		return (struct format_worth){.type = times->event, .unit = "count"};
	return (struct format_worth){.type = "cpu", .unit = "nanoseconds"};
}

const char *format_time_name(const struct profile_times *times)
{
	if (format_is_wall(times))
		return "time on and off the CPU";
	return "time off the CPU";
}

bool format_is_wall(const struct profile_times *times)
{
	return times->tick && strcmp(times->type, "wall") == 0;
}

void format_totals(const struct profile *profile, struct format_totals *ret_totals)
{
	const size_t count = profile_samples(profile);

	*ret_totals = (struct format_totals){0};
	for (size_t i = 0; i < count; i++) {
		const struct profile_sample sample = profile_sample_get(profile, i);

		ret_totals->samples += sample.count;
		if (profile_reason_is_cut(sample.reason))
			ret_totals->cut += sample.count;
		if (profile_reason_is_guess(sample.reason))
			ret_totals->guessed += sample.count;
	}
	ret_totals->complete = ret_totals->samples - ret_totals->cut - ret_totals->guessed;
}
