/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "profile/profile.h"

static const struct profile_state_row states[PROFILE_STATES] = {
#define S(id, word, frame) {word, frame},
#include "profile/states.def"
#undef S
};

const struct profile_state_row *profile_state(uint32_t state)
{
	if (state >= PROFILE_STATES)
		return NULL;
	return &states[state];
}

uint32_t profile_state_find(const char *word)
{
	for (uint32_t i = 0; i < PROFILE_STATES; i++)
		if (strcmp(states[i].word, word) == 0)
			return i;
	return STATE_WAIT;
}

bool profile_state_is_frame(const char *name)
{
	for (uint32_t i = 0; i < PROFILE_STATES; i++)
		if (states[i].frame && strcmp(states[i].frame, name) == 0)
			return true;
	return false;
}

const char *profile_state_side(uint32_t state)
{
	return state == STATE_CPU ? "on-cpu" : "off-cpu";
}
