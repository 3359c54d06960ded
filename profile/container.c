/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/container.h"

#include <stddef.h>
#include <string.h>

#define HEX_DIGITS	"0123456789abcdef"
#define DECIMAL_DIGITS	"0123456789"
#define ID_LENGTH	64u
#define TASK_LENGTH	32u /* of the task's part of an id of Amazon ECS */
#define TASK_NUMBER_MAX 20u /* digits behind that part */

/* A component of a path, or a part of one. */
struct part {
	const char *start;
	size_t length;
};

/*
 * The forms of a component that names a container. An id stands between the two texts. The names of
 * monitors ("crio-conmon-ID.scope") fit no row, because a monitor runs outside its container.
 */
static const struct form {
	const char *before, *after;
} forms[] = {
	{"", ""}, /* /docker/ID, /kubepods/…/ID */
	{"docker-", ".scope"},
	{"cri-containerd-", ".scope"},
	{"crio-", ".scope"},
	{"libpod-", ".scope"},
};

static size_t count_of(const struct part *part, size_t from, const char *digits)
{
	size_t i = from;

	while (i < part->length && strchr(digits, part->start[i]))
		i++;
	return i - from;
}

static bool is_id(const struct part *part)
{
	return part->length == ID_LENGTH && count_of(part, 0, HEX_DIGITS) == ID_LENGTH;
}

/* Returns whether the part is the id that Amazon ECS gives a container of a task: "HEX-NUMBER". */
static bool is_task_id(const struct part *part)
{
	size_t digits;

	if (part->length <= TASK_LENGTH + 1 || count_of(part, 0, HEX_DIGITS) != TASK_LENGTH)
		return false;
	if (part->start[TASK_LENGTH] != '-')
		return false;
	digits = count_of(part, TASK_LENGTH + 1, DECIMAL_DIGITS);
	return digits <= TASK_NUMBER_MAX && TASK_LENGTH + 1 + digits == part->length;
}

static bool begins_with(const struct part *part, const char *text, size_t length)
{
	return part->length >= length && memcmp(part->start, text, length) == 0;
}

/* Takes the texts of a form off. Returns false when the part lacks one of them. */
static bool strip(struct part *part, const struct form *form)
{
	const size_t before = strlen(form->before), after = strlen(form->after);

	if (part->length < before + after || !begins_with(part, form->before, before))
		return false;
	part->start += before;
	part->length -= before + after;
	return memcmp(part->start + part->length, form->after, after) == 0;
}

/* Leaves what follows the last colon: containerd may write "SLICE:cri-containerd:ID". */
static void strip_slice(struct part *part)
{
	const char *colon = memrchr(part->start, ':', part->length);

	if (!colon)
		return;
	part->length -= (size_t)(colon + 1 - part->start);
	part->start = colon + 1;
}

/* Gets the part of a component that is an id. Returns false when the component has none. */
static bool find_id(struct part component, struct part *ret_id)
{
	strip_slice(&component);
	*ret_id = component;
	if (is_task_id(ret_id))
		return true;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		*ret_id = component;
		if (strip(ret_id, &forms[i]) && is_id(ret_id))
			return true;
	}
	return false;
}

bool container_id(const char *path, char ret_id[CONTAINER_ID_BYTES])
{
	ret_id[0] = '\0';
	while (*path) {
		const struct part component = {.start = path, .length = strcspn(path, "/")};
		struct part id;

		if (find_id(component, &id)) {
			memcpy(ret_id, id.start, id.length);
			ret_id[id.length] = '\0';
		}
		path += component.length;
		path += strspn(path, "/");
	}
	return ret_id[0] != '\0';
}
