/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loop.h"

#include <event2/event.h>
#include <stddef.h>

/* Drops libevent's own messages: errors come back from its functions, and their callers log. */
static void drop_message(int severity, const char *message)
{
	(void)severity;
	(void)message;
}

struct event_base *loop_new(void)
{
	struct event_config *config = event_config_new();
	struct event_base *base;

	if (!config)
		return NULL;
	event_set_log_callback(drop_message);
	event_config_avoid_method(config, "select");
	event_config_avoid_method(config, "poll");
	event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
	event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV);
	base = event_base_new_with_config(config);
	event_config_free(config);
	return base;
}
