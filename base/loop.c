/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loop.h"

#include <event2/event.h>
#include <stddef.h>

struct event_base *loop_new(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base;

	if (!config)
		return NULL;
	event_config_avoid_method(config, "select");
	event_config_avoid_method(config, "poll");
	event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
	event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV);
	base = event_base_new_with_config(config);
	event_config_free(config);
	return base;
}
