/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resource of a process. Values stand in the message itself: some receivers read no references
 * to the string table here, and some refuse them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/container.h"
#include "profile/format/format.h"
#include "profile/format/names.h"
#include "profile/format/otlp.h"
#include "profile/profile.h"

#define RESOURCE_RESOURCE                                                                     \
	protobuf_c_message_descriptor_get_field_by_name(&otlp__resource_profiles__descriptor, \
							"resource")

#define SERVICE_UNKNOWN "unknown_service:" /* and the executable, as OpenTelemetry's SDKs say */
#define ATTRIBUTES_MAX	(10u + OTLP_OWN_MAX + OTLP_TOLD_MAX)
#define ISO_BYTES	64 /* more than "2026-11-26T15:19:56.123456789Z" */
#define NS_PER_SECOND	1000000000ull
#define DAY		86400u /* seconds */

/* The attributes of a resource: the memory that the message points to. Keys are constants. */
struct attributes {
	Otlp__KeyValue pair[ATTRIBUTES_MAX];
	Otlp__AnyValue value[ATTRIBUTES_MAX];
	Otlp__KeyValue *pointer[ATTRIBUTES_MAX];
	size_t count;
	char service[sizeof(SERVICE_UNKNOWN) + FORMAT_NAME_MAX];
	char path[FORMAT_NAME_MAX], host[FORMAT_NAME_MAX], created[ISO_BYTES];
	char container[CONTAINER_ID_BYTES], pod[CONTAINER_POD_BYTES];
	char *told; /* a copy, cut to pieces */
	char own_key[OTLP_OWN_MAX][OTLP_OWN_BYTES], own_value[OTLP_OWN_MAX][OTLP_OWN_BYTES];
};

static Otlp__AnyValue *add_attribute(struct attributes *attributes, const char *key)
{
	const size_t at = attributes->count++;

	otlp__key_value__init(&attributes->pair[at]);
	otlp__any_value__init(&attributes->value[at]);
	attributes->pair[at].key = (char *)(uintptr_t)key;
	attributes->pair[at].value = &attributes->value[at];
	attributes->pointer[at] = &attributes->pair[at];
	return &attributes->value[at];
}

static void add_number(struct attributes *attributes, const char *key, uint64_t number)
{
	Otlp__AnyValue *value = add_attribute(attributes, key);

	value->value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
	value->int_value = (int64_t)number;
}

/* Borrows the clean text. */
static void add_text(struct attributes *attributes, const char *key, const char *clean)
{
	Otlp__AnyValue *value = add_attribute(attributes, key);

	value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value->string_value = (char *)(uintptr_t)clean;
}

/* Cleans a raw text into room of the attributes, unless there is none. */
static void add_raw(struct attributes *attributes, const char *key, const char *raw, char *room,
		    size_t size)
{
	if (!raw || !raw[0])
		return;
	format_clean_name(room, size, raw);
	add_text(attributes, key, room);
}

/* ---- what keyhole knows ---- */

static const char *path_of(const struct otlp *otlp, const struct otlp_process *process)
{
	return profile_string_get(otlp->profile,
				  profile_process_get(otlp->profile, process->process).executable);
}

/*
 * Threads of the kernel are one service: the name of a worker thread changes with its work. None
 * has an executable.
 */
static void add_kernel(struct attributes *attributes)
{
	add_text(attributes, "service.name", SERVICE_UNKNOWN "kernel");
}

/*
 * Adds the service as well: back ends file all processes without a service under one name. The
 * conventions want the last part of the path as the name. Where the path is not known, comm has
 * the beginning of that part, unless the program has changed comm.
 */
static void add_names(const struct otlp *otlp, const struct otlp_process *process,
		      struct attributes *attributes)
{
	char *name = attributes->service + strlen(SERVICE_UNKNOWN);
	const char *path = path_of(otlp, process);

	memcpy(attributes->service, SERVICE_UNKNOWN, sizeof(SERVICE_UNKNOWN));
	if (path[0])
		format_clean_name(name, FORMAT_NAME_MAX, format_base_name(path));
	else
		format_clean_name(name, FORMAT_NAME_MAX,
				  format_process_name(otlp->profile, process->process_name));
	add_text(attributes, "process.executable.name", name);
	add_text(attributes, "service.name", attributes->service);
	add_raw(attributes, "process.executable.path", path, attributes->path,
		sizeof(attributes->path));
}

static bool is_leap(unsigned int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static unsigned int days_of(unsigned int year, unsigned int month)
{
	static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return days[month] + (month == 1 && is_leap(year));
}

/*
 * Writes ISO 8601 in UTC, with milliseconds. gmtime_r() would open a file of time zones, which a
 * confined process may not.
 */
static void write_time(char ret_text[ISO_BYTES], uint64_t realtime)
{
	const uint64_t seconds = realtime / NS_PER_SECOND;
	unsigned int day = (unsigned int)(seconds / DAY), year = 1970, month = 0;
	const unsigned int second = (unsigned int)(seconds % DAY);

	for (; day >= 365u + is_leap(year); year++)
		day -= 365u + is_leap(year);
	for (; day >= days_of(year, month); month++)
		day -= days_of(year, month);
	snprintf(ret_text, ISO_BYTES, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", year, month + 1,
		 day + 1, second / 3600, second / 60 % 60, second % 60,
		 (unsigned int)(realtime % NS_PER_SECOND / 1000000));
}

static void add_created(const struct otlp *otlp, const struct otlp_process *process,
			struct attributes *attributes)
{
	const uint64_t created = profile_process_get(otlp->profile, process->process).created;

	if (!created)
		return;
	write_time(attributes->created, created);
	add_text(attributes, "process.creation.time", attributes->created);
}

static void add_host(const struct otlp *otlp, struct attributes *attributes)
{
	add_raw(attributes, "host.name", otlp->times->host, attributes->host,
		sizeof(attributes->host));
	if (!otlp->times->arch)
		return;
	add_text(attributes, "host.arch", otlp->times->arch);
	add_text(attributes, "os.type", "linux");
}

static void add_container(const struct otlp *otlp, const struct otlp_process *process,
			  struct attributes *attributes)
{
	add_raw(attributes, "container.id", profile_string_get(otlp->profile, process->container),
		attributes->container, sizeof(attributes->container));
	add_raw(attributes, "k8s.pod.uid", profile_string_get(otlp->profile, process->pod),
		attributes->pod, sizeof(attributes->pod));
}

/* ---- what the user says ---- */

/* Returns whether the process executes a program at the path of one of ours. */
static bool is_own(const struct profile_own *own, const char *path)
{
	for (size_t i = 0; i < own->program_count; i++)
		if (strncmp(path, own->programs[i], strlen(own->programs[i])) == 0)
			return true;
	return false;
}

/* Returns whether an attribute tells a process from others of its machine. */
static bool is_of_process(const char *key)
{
	static const char *const begins[] = {"service.",   "telemetry.", "process.",	  "thread.",
					     "container.", "k8s.pod.",	 "k8s.container."};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(key, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static Otlp__AnyValue *find(struct attributes *attributes, const char *key)
{
	for (size_t i = 0; i < attributes->count; i++)
		if (strcmp(attributes->pair[i].key, key) == 0)
			return &attributes->value[i];
	return NULL;
}

/* The user's word replaces ours. Keys stay unique. */
static void add_word(const struct profile_attribute *word, bool own, size_t place,
		     struct attributes *attributes)
{
	char *key = attributes->own_key[place], *value = attributes->own_value[place];
	Otlp__AnyValue *known;

	format_clean_name(key, OTLP_OWN_BYTES, word->key);
	if (!key[0] || (!own && is_of_process(key)))
		return;
	format_clean_name(value, OTLP_OWN_BYTES, word->value);
	known = find(attributes, key);
	if (!known)
		add_text(attributes, key, value);
	else if (known->value_case == OTLP__ANY_VALUE__VALUE_STRING_VALUE)
		known->string_value = value;
}

static void add_words(const struct profile_own *words, const char *path,
		      struct attributes *attributes)
{
	const bool own = is_own(words, path);

	for (size_t i = 0; i < words->attribute_count && i < OTLP_OWN_MAX; i++)
		add_word(&words->attributes[i], own, i, attributes);
}

/* ---- what the process says of itself ---- */

/* Attributes that keyhole itself knows stay, but the service's name is the process's own affair. */
static void add_told_one(struct attributes *attributes, const char *key, char *value)
{
	Otlp__AnyValue *known = find(attributes, key);

	if (!known)
		add_text(attributes, key, value);
	else if (known->string_value == attributes->service)
		known->string_value = value;
}

/* The text is clean, line by line "key=value". */
static void add_told(const struct otlp *otlp, const struct otlp_process *process,
		     struct attributes *attributes)
{
	const uint32_t id = profile_process_get(otlp->profile, process->process).attributes;
	char *line, *rest;

	attributes->told = strdup(profile_string_get(otlp->profile, id));
	rest = attributes->told;
	for (size_t i = 0; rest && i < OTLP_TOLD_MAX; i++) {
		char *value;

		line = strsep(&rest, "\n");
		value = strchr(line, '=');
		if (!value)
			return;
		*value = '\0';
		add_told_one(attributes, line, value + 1);
	}
}

void otlp_resource_put(struct otlp *otlp, const struct otlp_process *process)
{
	Otlp__Resource resource = OTLP__RESOURCE__INIT;
	struct attributes attributes;

	attributes.count = 0;
	add_number(&attributes, "process.pid", process->pid);
	if (profile_process_get(otlp->profile, process->process).is_kernel)
		add_kernel(&attributes);
	else
		add_names(otlp, process, &attributes);
	add_created(otlp, process, &attributes);
	add_host(otlp, &attributes);
	add_container(otlp, process, &attributes);
	if (otlp->times->own)
		add_words(otlp->times->own, path_of(otlp, process), &attributes);
	add_told(otlp, process, &attributes);
	resource.n_attributes = attributes.count;
	resource.attributes = attributes.pointer;
	otlp_message(otlp, RESOURCE_RESOURCE, &resource.base);
	free(attributes.told);
}
