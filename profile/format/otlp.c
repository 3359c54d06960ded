/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes OTLP profiles (proto/otlp.proto): a resource for each process, with one profile of
 * samples. Equal samples are one sample with a count and without a time, a shape that all receivers
 * take. On the wire, a field's tag and the length of a message come before the message. The binary
 * encoding therefore measures a process before it writes the process. Memory holds the dictionary
 * alone.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "generated/version.h"
#include "profile/container.h"
#include "profile/format/format.h"
#include "profile/format/names.h"
#include "profile/format/otlp.h"
#include "profile/profile.h"

/* The version of OpenTelemetry's conventions that has the names of our attributes. */
#define SCHEMA_URL	  "https://opentelemetry.io/schemas/1.37.0"
#define SAMPLE_ATTRIBUTES 5u /* at most: add_attributes() */

/* Finds a field of proto/otlp.proto. Each name below has the message first. */
#define FIELD(message, name) \
	protobuf_c_message_descriptor_get_field_by_name(&otlp__##message##__descriptor, name)
#define DATA_RESOURCES	   FIELD(profiles_data, "resource_profiles")
#define DATA_DICTIONARY	   FIELD(profiles_data, "dictionary")
#define RESOURCE_RESOURCE  FIELD(resource_profiles, "resource")
#define RESOURCE_SCOPES	   FIELD(resource_profiles, "scope_profiles")
#define SCOPE_SCOPE	   FIELD(scope_profiles, "scope")
#define SCOPE_PROFILES	   FIELD(scope_profiles, "profiles")
#define SAMPLES_OF_PROFILE FIELD(profile, "samples")

/* Describes a process and its messages. A length is in bytes, and 0 until measure() has run. */
struct process {
	const struct format_thread *threads; /* the first */
	size_t count;			     /* of threads */
	uint64_t profile_length, scope_length, length;
};

void otlp_message(struct otlp *otlp, const ProtobufCFieldDescriptor *field,
		  const ProtobufCMessage *message)
{
	uint64_t length = 0;

	if (otlp->encoding->measures)
		length = protobuf_c_message_get_packed_size(message);
	if (otlp->encoding->open(otlp, field, length)) {
		otlp->encoding->fields(otlp, message);
		otlp->encoding->close(otlp);
	}
}

/* ---- samples ---- */

/* Returns how many attributes the sample has. */
static size_t add_attributes(struct otlp *otlp, const struct profile_sample *sample,
			     int32_t ret_attributes[SAMPLE_ATTRIBUTES])
{
	const struct profile_cgroup cgroup = profile_cgroup_get(otlp->profile, sample->cgroup);
	size_t count = 0;

	ret_attributes[count++] = otlp_attribute_number(otlp, "thread.id", sample->tid);
	ret_attributes[count++] = otlp_attribute_string(
		otlp, "thread.name", profile_string_get(otlp->profile, sample->thread_name));
	if (cgroup.id)
		ret_attributes[count++] = otlp_attribute_number(otlp, "keyhole.cgroup", cgroup.id);
	if (cgroup.path)
		ret_attributes[count++] =
			otlp_attribute_string(otlp, "keyhole.cgroup_path",
					      profile_string_get(otlp->profile, cgroup.path));
	if (profile_reason_is_told(sample->reason))
		ret_attributes[count++] = otlp_attribute_string(
			otlp, "keyhole.reason", profile_reason(sample->reason)->name);
	return count;
}

static void put_sample(struct otlp *otlp, const struct profile_sample *from)
{
	Otlp__Sample sample = OTLP__SAMPLE__INIT;
	int32_t attributes[SAMPLE_ATTRIBUTES];
	int64_t value = (int64_t)from->count;

	sample.stack_index = otlp->stacks[from->stack];
	sample.n_attribute_indices = add_attributes(otlp, from, attributes);
	sample.attribute_indices = attributes;
	sample.n_values = 1;
	sample.values = &value;
	otlp_message(otlp, SAMPLES_OF_PROFILE, &sample.base);
}

static void put_samples(struct otlp *otlp, const struct process *process)
{
	const struct format_thread *last = &process->threads[process->count - 1];

	otlp->encoding->array(otlp, SAMPLES_OF_PROFILE);
	for (size_t i = process->threads->first; i < last->first + last->samples; i++) {
		const struct profile_sample sample =
			profile_sample_get(otlp->profile, otlp->threads.order[i]);

		put_sample(otlp, &sample);
	}
	otlp->encoding->close(otlp);
}

/* ---- messages around the samples, from the inside out ---- */

static void put_profile(struct otlp *otlp, const struct process *process)
{
	Otlp__Profile profile = OTLP__PROFILE__INIT;
	Otlp__ValueType sample_type = OTLP__VALUE_TYPE__INIT;
	Otlp__ValueType period_type = OTLP__VALUE_TYPE__INIT;
	const struct format_worth worth = format_worth(otlp->times);
	struct format_worth counted = {.type = "samples", .unit = "count"};

	if (otlp->times->type)
		counted = worth;
	sample_type.type_strindex = otlp_string(otlp, counted.type);
	sample_type.unit_strindex = otlp_string(otlp, counted.unit);
	period_type.type_strindex = otlp_string(otlp, worth.type);
	period_type.unit_strindex = otlp_string(otlp, worth.unit);
	profile.sample_type = &sample_type;
	profile.time_unix_nano = otlp->times->start_realtime_ns;
	profile.duration_nano = otlp->times->duration_ns;
	profile.period_type = &period_type;
	profile.period = (int64_t)otlp->times->period;
	otlp->encoding->fields(otlp, &profile.base);
	put_samples(otlp, process);
}

static void put_scope(struct otlp *otlp, const struct process *process)
{
	Otlp__InstrumentationScope scope = OTLP__INSTRUMENTATION_SCOPE__INIT;
	char name[] = "keyhole", version[] = KEYHOLE_VERSION;

	scope.name = name;
	scope.version = version;
	otlp_message(otlp, SCOPE_SCOPE, &scope.base);
	otlp->encoding->array(otlp, SCOPE_PROFILES);
	if (otlp->encoding->open(otlp, SCOPE_PROFILES, process->profile_length)) {
		put_profile(otlp, process);
		otlp->encoding->close(otlp);
	}
	otlp->encoding->close(otlp);
}

#define SERVICE_UNKNOWN	    "unknown_service:" /* and the executable, as OpenTelemetry's SDKs say */
#define RESOURCE_ATTRIBUTES 5u		       /* at most: put_process() */

/* The attributes of a resource: the memory that the message points to. Keys are constants. */
struct attributes {
	Otlp__KeyValue pair[RESOURCE_ATTRIBUTES];
	Otlp__AnyValue value[RESOURCE_ATTRIBUTES];
	Otlp__KeyValue *pointer[RESOURCE_ATTRIBUTES];
	size_t count;
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
static void add_text(struct attributes *attributes, const char *key, char *clean)
{
	Otlp__AnyValue *value = add_attribute(attributes, key);

	value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
	value->string_value = clean;
}

/* Returns the container of the process, as a string of the profile, or 0 where samples disagree. */
static uint32_t container_of(const struct otlp *otlp, const struct process *process)
{
	const struct format_thread *last = &process->threads[process->count - 1];
	uint32_t container = 0;

	for (size_t i = process->threads->first; i < last->first + last->samples; i++) {
		const uint64_t key =
			profile_sample_get(otlp->profile, otlp->threads.order[i]).cgroup;
		const uint32_t next = profile_cgroup_get(otlp->profile, key).container;

		if (!next || (container && container != next))
			return 0;
		container = next;
	}
	return container;
}

/* Writes the resource. Back ends file all processes without a service under one name. */
static void put_process(struct otlp *otlp, const struct process *process)
{
	Otlp__Resource resource = OTLP__RESOURCE__INIT;
	struct attributes attributes = {.count = 0};
	char service[sizeof(SERVICE_UNKNOWN) + FORMAT_NAME_MAX] = SERVICE_UNKNOWN;
	char *program = service + strlen(SERVICE_UNKNOWN), host[FORMAT_NAME_MAX];
	char container[CONTAINER_ID_BYTES];
	const uint32_t container_string = container_of(otlp, process);

	format_clean_name(program, FORMAT_NAME_MAX,
			  format_process_name(otlp->profile, process->threads->process_name));
	add_number(&attributes, "process.pid", process->threads->pid);
	add_text(&attributes, "process.executable.name", program);
	add_text(&attributes, "service.name", service);
	if (otlp->times->host) {
		format_clean_name(host, sizeof(host), otlp->times->host);
		add_text(&attributes, "host.name", host);
	}
	if (container_string) {
		format_clean_name(container, sizeof(container),
				  profile_string_get(otlp->profile, container_string));
		add_text(&attributes, "container.id", container);
	}
	resource.n_attributes = attributes.count;
	resource.attributes = attributes.pointer;
	otlp_message(otlp, RESOURCE_RESOURCE, &resource.base);
}

static void put_resource(struct otlp *otlp, const struct process *process)
{
	Otlp__ResourceProfiles schema = OTLP__RESOURCE_PROFILES__INIT;
	char url[] = SCHEMA_URL;

	put_process(otlp, process);
	otlp->encoding->array(otlp, RESOURCE_SCOPES);
	if (otlp->encoding->open(otlp, RESOURCE_SCOPES, process->scope_length)) {
		put_scope(otlp, process);
		otlp->encoding->close(otlp);
	}
	otlp->encoding->close(otlp);
	schema.schema_url = url;
	otlp->encoding->fields(otlp, &schema.base);
}

static void put_dictionary(struct otlp *otlp, const struct process *process)
{
	(void)process; /* all processes share the dictionary */
	otlp_tables_put(otlp);
}

/* Returns how many bytes put() would write, or 0 where the encoding does not ask. */
static uint64_t measure(struct otlp *otlp,
			void (*put)(struct otlp *otlp, const struct process *process),
			const struct process *process)
{
	if (!otlp->encoding->measures)
		return 0;
	otlp->measuring = true;
	otlp->measured = 0;
	put(otlp, process);
	otlp->measuring = false;
	return otlp->measured;
}

/* Returns how many threads, from this one on, belong to one process. */
static size_t threads_of_process(const struct otlp *otlp, size_t first)
{
	size_t end = first;

	while (end < otlp->threads.count &&
	       otlp->threads.threads[end].process == otlp->threads.threads[first].process)
		end++;
	return end - first;
}

static void put_resources(struct otlp *otlp)
{
	otlp->encoding->array(otlp, DATA_RESOURCES);
	for (size_t i = 0, count; i < otlp->threads.count; i += count) {
		struct process process = {.threads = &otlp->threads.threads[i]};

		process.count = count = threads_of_process(otlp, i);
		process.profile_length = measure(otlp, put_profile, &process);
		process.scope_length = measure(otlp, put_scope, &process);
		process.length = measure(otlp, put_resource, &process);
		otlp->encoding->open(otlp, DATA_RESOURCES, process.length);
		put_resource(otlp, &process);
		otlp->encoding->close(otlp);
	}
	otlp->encoding->close(otlp);
}

/* Writes the dictionary last: the samples before it add attributes. */
static void put_all(struct otlp *otlp)
{
	otlp->encoding->begin(otlp);
	if (otlp->threads.count > 0)
		put_resources(otlp);
	otlp->encoding->open(otlp, DATA_DICTIONARY, measure(otlp, put_dictionary, NULL));
	put_dictionary(otlp, NULL);
	otlp->encoding->close(otlp);
	otlp->encoding->end(otlp);
}

int otlp_render(const struct profile *profile, const struct profile_times *times,
		const struct otlp_encoding *encoding, int fd)
{
	struct otlp *otlp = calloc(1, sizeof(*otlp));
	int r;

	if (!otlp)
		return -ENOMEM;
	otlp->profile = profile;
	otlp->times = times;
	otlp->encoding = encoding;
	r = output_init(&otlp->output, fd, false);
	json_init(&otlp->json, &otlp->output);
	if (r == 0)
		r = format_threads_init(&otlp->threads, profile);
	if (r == 0)
		r = otlp_tables_init(otlp);
	if (r == 0) {
		put_all(otlp);
		r = output_finish(&otlp->output);
	}
	otlp_tables_release(otlp);
	format_threads_release(&otlp->threads);
	output_release(&otlp->output);
	free(otlp);
	return r;
}
