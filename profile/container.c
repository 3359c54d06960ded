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
 * The forms of a component that names a container. An id stands between the two texts. Names with
 * ".scope" are those of systemd's driver, and others those of the driver cgroupfs. The names of
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
	{"nerdctl-", ".scope"},
	{"crio-", ""},
	{"libpod-", ""}, /* /libpod_parent/libpod-ID */
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

/* ---- pods ---- */

/* Text before a pod's uid: with the driver cgroupfs, and with that of systemd. */
#define POD	  "pod"
#define POD_SLICE "-pod"
#define SLICE	  ".slice"

#define UID_LENGTH 36u /* 8-4-4-4-12 hex digits */
/* The kubelet gives a pod of a file of its own ("static") an MD5 without dashes. */
#define STATIC_UID_LENGTH 32u

/* systemd takes a '-' for the end of a name, so that the kubelet writes '_'. */
static bool is_dash(char c)
{
	return c == '-' || c == '_';
}

static bool is_uid_character(const struct part *part, size_t i)
{
	const char c = part->start[i];

	if (i == 8 || i == 13 || i == 18 || i == 23)
		return is_dash(c);
	return c && strchr(HEX_DIGITS, c);
}

static bool is_uid(const struct part *part)
{
	if (part->length == STATIC_UID_LENGTH)
		return count_of(part, 0, HEX_DIGITS) == STATIC_UID_LENGTH;
	if (part->length != UID_LENGTH)
		return false;
	for (size_t i = 0; i < UID_LENGTH; i++)
		if (!is_uid_character(part, i))
			return false;
	return true;
}

/* Leaves what precedes a colon: containerd may write "SLICE:cri-containerd:ID". */
static void keep_slice(struct part *part)
{
	const char *colon = memchr(part->start, ':', part->length);

	if (colon)
		part->length = (size_t)(colon - part->start);
}

/* Gets the part of a component that is a pod's uid. Returns false when the component has none. */
static bool find_pod(struct part component, struct part *ret_uid)
{
	static const struct form plain = {POD, ""}, slice = {"", SLICE};
	const char *pod;

	*ret_uid = component;
	if (strip(ret_uid, &plain) && is_uid(ret_uid))
		return true;
	*ret_uid = component;
	keep_slice(ret_uid);
	if (!strip(ret_uid, &slice))
		return false;
	pod = memmem(ret_uid->start, ret_uid->length, POD_SLICE, strlen(POD_SLICE));
	if (!pod)
		return false;
	pod += strlen(POD_SLICE);
	ret_uid->length -= (size_t)(pod - ret_uid->start);
	ret_uid->start = pod;
	return is_uid(ret_uid);
}

static void copy_uid(const struct part *uid, char ret_uid[CONTAINER_POD_BYTES])
{
	for (size_t i = 0; i < uid->length; i++)
		ret_uid[i] = uid->start[i];
	for (size_t i = 0; i < uid->length; i++)
		if (is_dash(ret_uid[i]))
			ret_uid[i] = '-';
	ret_uid[uid->length] = '\0';
}

bool container_pod(const char *path, char ret_uid[CONTAINER_POD_BYTES])
{
	ret_uid[0] = '\0';
	while (*path) {
		const struct part component = {.start = path, .length = strcspn(path, "/")};
		struct part uid;

		if (find_pod(component, &uid))
			copy_uid(&uid, ret_uid);
		path += component.length;
		path += strspn(path, "/");
	}
	return ret_uid[0] != '\0';
}
