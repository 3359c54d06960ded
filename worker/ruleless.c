/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/ruleless.h"

#include <errno.h>
#include <string.h>

#include "base/redact.h"
#include "worker/process/object.h"
#include "worker/why/findings.h"

static int32_t reason_of(const struct object *object)
{
	if (object->state == OBJECT_FAILED)
		return object->reason;
	if (object->no_room)
		return -ENOSPC;
	if (object->rules_error < 0)
		return object->rules_error;
	return -ENOENT;
}

/* Returns the place of an object of the same name, or else the last place. */
static struct summary_object *place_for(struct summary_object *top, const char *name)
{
	for (size_t i = 0; i < SUMMARY_OBJECTS; i++)
		if (top[i].samples > 0 && strcmp(top[i].name, name) == 0)
			return &top[i];
	return &top[SUMMARY_OBJECTS - 1];
}

static void move_up(struct summary_object *top, struct summary_object *place)
{
	for (; place > top && place->samples > place[-1].samples; place--) {
		struct summary_object lower = place[-1];

		place[-1] = *place;
		*place = lower;
	}
}

static void enter(struct summary_object *top, const struct summary_object *object)
{
	struct summary_object *place = place_for(top, object->name);

	if (place->samples > 0 && strcmp(place->name, object->name) == 0)
		place->samples += object->samples;
	else if (place->samples < object->samples)
		*place = *object;
	move_up(top, place);
}

static void describe(const struct object *object, const struct redact *redact,
		     struct summary_object *ret_object)
{
	char text[REDACT_BYTES];
	const char *name = redact_name(redact, REDACT_PATH, object->name, text);
	const char *slash = strrchr(name, '/');

	if (slash && slash[1])
		name = slash + 1;
	*ret_object =
		(struct summary_object){.samples = object->ruleless, .reason = reason_of(object)};
	findings_clean(name, ret_object->name, sizeof(ret_object->name));
}

void ruleless_find(const struct objects *objects, const struct redact *redact,
		   struct summary_object ret_top[static SUMMARY_OBJECTS])
{
	const struct object *object;
	size_t cursor = 0;

	memset(ret_top, 0, SUMMARY_OBJECTS * sizeof(*ret_top));
	while ((object = objects_next(objects, &cursor)) != NULL) {
		struct summary_object one;

		if (object->ruleless == 0)
			continue;
		describe(object, redact, &one);
		enter(ret_top, &one);
	}
}
