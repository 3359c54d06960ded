/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes OTLP profiles (proto/otlp.proto): a resource for each process, with one profile of samples
 * (otlp_samples.h). Time on and off the CPU are two profiles. On the wire, a field's tag and the
 * length of a message come before the message. The binary encoding therefore measures a process
 * before it writes the process. Memory holds the dictionary, the samples and their times.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "generated/version.h"
#include "profile/format/format.h"
#include "profile/format/otlp.h"
#include "profile/profile.h"

/* The version of OpenTelemetry's conventions that has the names of our attributes. */
#define SCHEMA_URL "https://opentelemetry.io/schemas/1.37.0"

/* Finds a field of proto/otlp.proto. Each name below has the message first. */
#define FIELD(message, name) \
	protobuf_c_message_descriptor_get_field_by_name(&otlp__##message##__descriptor, name)
#define DATA_RESOURCES	   FIELD(profiles_data, "resource_profiles")
#define DATA_DICTIONARY	   FIELD(profiles_data, "dictionary")
#define RESOURCE_SCOPES	   FIELD(resource_profiles, "scope_profiles")
#define SCOPE_SCOPE	   FIELD(scope_profiles, "scope")
#define SCOPE_PROFILES	   FIELD(scope_profiles, "profiles")
#define SAMPLES_OF_PROFILE FIELD(profile, "samples")

/* Describes a process and its messages. A length is in bytes, and 0 until measure() has run. */
#define PARTS_MAX 2 /* profiles of a process: on and off the CPU */
struct process {
	const struct otlp_process *of; /* the first of its profiles */
	size_t parts;
	size_t part; /* the profile under way */
	uint64_t profile_length[PARTS_MAX], scope_length, length;
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

static int64_t at_most_int64(uint64_t value)
{
	if (value > INT64_MAX)
		return INT64_MAX;
	return (int64_t)value;
}

static size_t count_attributes(const struct otlp_sample *sample)
{
	size_t count = 0;

	while (count < OTLP_SAMPLE_ATTRIBUTES && sample->attributes[count])
		count++;
	return count;
}

/* Puts the attributes of a goroutine behind those that all samples have. */
static size_t add_given(const struct otlp_samples *samples, uint32_t id, int32_t *to)
{
	size_t size;
	const void *given = intern_get(samples->given, id, &size);

	memcpy(to, given, size);
	return size / sizeof(*to);
}

/* Time on the CPU is a number of samples, as without time off the CPU. */
static uint64_t value_of(const struct otlp *otlp, uint32_t index, bool off_cpu)
{
	const uint64_t count = otlp->samples.counts[index], tick = otlp->times->tick;

	if (!tick || off_cpu)
		return count;
	return (count + tick / 2) / tick;
}

static void put_sample(struct otlp *otlp, uint32_t index, bool off_cpu)
{
	int32_t attributes[OTLP_SAMPLE_ATTRIBUTES + OTLP_SAMPLE_GIVEN];
	const struct otlp_samples *samples = &otlp->samples;
	struct otlp_sample from = otlp_samples_get(samples, index);
	Otlp__Sample sample = OTLP__SAMPLE__INIT;
	int64_t value = at_most_int64(value_of(otlp, index, off_cpu));

	sample.stack_index = from.stack;
	sample.link_index = from.link;
	memcpy(attributes, from.attributes, sizeof(from.attributes));
	sample.n_attribute_indices = count_attributes(&from);
	sample.n_attribute_indices +=
		add_given(samples, from.given, attributes + sample.n_attribute_indices);
	sample.attribute_indices = attributes;
	if (samples->times) {
		sample.n_timestamps_unix_nano = samples->first[index + 1] - samples->first[index];
		sample.timestamps_unix_nano = samples->times + samples->first[index];
	} else {
		sample.n_values = 1;
		sample.values = &value;
	}
	otlp_message(otlp, SAMPLES_OF_PROFILE, &sample.base);
}

static void put_samples(struct otlp *otlp, const struct process *process)
{
	const struct otlp_process *of = process->of + process->part;

	otlp->encoding->array(otlp, SAMPLES_OF_PROFILE);
	for (uint32_t i = 0; i < of->count; i++)
		put_sample(otlp, of->first + i, of->off_cpu);
	otlp->encoding->close(otlp);
}

/* ---- messages around the samples, from the inside out ---- */

/* Says what the values are: samples, unless the profile counts none, or times off the CPU. */
static struct profile_times times_of(const struct otlp *otlp, const struct otlp_process *of)
{
	struct profile_times times = *otlp->times;

	if (!times.tick)
		return times;
	times.type = NULL;
	times.period = times.tick;
	if (of->off_cpu) {
		times.type = "off_cpu";
		times.period = 1;
	}
	return times;
}

static void put_profile(struct otlp *otlp, const struct process *process)
{
	const struct profile_times times = times_of(otlp, process->of + process->part);
	Otlp__Profile profile = OTLP__PROFILE__INIT;
	Otlp__ValueType sample_type = OTLP__VALUE_TYPE__INIT;
	Otlp__ValueType period_type = OTLP__VALUE_TYPE__INIT;
	const struct format_worth worth = format_worth(&times);
	struct format_worth counted = {.type = "samples", .unit = "count"};

	if (times.type)
		counted = worth;
	sample_type.type_strindex = otlp_string(otlp, counted.type);
	sample_type.unit_strindex = otlp_string(otlp, counted.unit);
	period_type.type_strindex = otlp_string(otlp, worth.type);
	period_type.unit_strindex = otlp_string(otlp, worth.unit);
	profile.sample_type = &sample_type;
	profile.time_unix_nano = otlp->samples.start;
	profile.duration_nano = otlp->samples.end - otlp->samples.start;
	profile.period_type = &period_type;
	/* Pyroscope refuses a period of 0 */
	profile.period = at_most_int64(times.period);
	if (profile.period == 0)
		profile.period = 1;
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
	for (size_t i = 0; i < process->parts; i++) {
		struct process part = *process;

		part.part = i;
		if (!otlp->encoding->open(otlp, SCOPE_PROFILES, process->profile_length[i]))
			continue;
		put_profile(otlp, &part);
		otlp->encoding->close(otlp);
	}
	otlp->encoding->close(otlp);
}

static void put_resource(struct otlp *otlp, const struct process *process)
{
	Otlp__ResourceProfiles schema = OTLP__RESOURCE_PROFILES__INIT;
	char url[] = SCHEMA_URL;

	otlp_resource_put(otlp, process->of);
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

static size_t count_parts(const struct otlp_samples *samples, size_t first)
{
	const size_t next = first + 1;

	return 1 + (next < samples->process_count && samples->processes[next].continues);
}

static void put_resources(struct otlp *otlp)
{
	otlp->encoding->array(otlp, DATA_RESOURCES);
	for (size_t i = 0, parts; i < otlp->samples.process_count; i += parts) {
		struct process process = {.of = &otlp->samples.processes[i]};

		parts = process.parts = count_parts(&otlp->samples, i);
		for (; process.part < parts; process.part++)
			process.profile_length[process.part] = measure(otlp, put_profile, &process);
		process.part = 0;
		process.scope_length = measure(otlp, put_scope, &process);
		process.length = measure(otlp, put_resource, &process);
		otlp->encoding->open(otlp, DATA_RESOURCES, process.length);
		put_resource(otlp, &process);
		otlp->encoding->close(otlp);
	}
	otlp->encoding->close(otlp);
}

/* Writes the dictionary last: the messages before it add types. */
static void put_all(struct otlp *otlp)
{
	otlp->encoding->begin(otlp);
	if (otlp->samples.process_count > 0)
		put_resources(otlp);
	otlp->encoding->open(otlp, DATA_DICTIONARY, measure(otlp, put_dictionary, NULL));
	put_dictionary(otlp, NULL);
	otlp->encoding->close(otlp);
	otlp->encoding->end(otlp);
}

int otlp_render(const struct profile *profile, const struct profile_times *times,
		const struct format_options *options, const struct otlp_encoding *encoding, int fd)
{
	struct otlp *otlp = calloc(1, sizeof(*otlp));
	int r;

	if (!otlp)
		return -ENOMEM;
	otlp->profile = profile;
	otlp->times = times;
	otlp->compat = options->otlp_compat;
	otlp->encoding = encoding;
	r = output_init(&otlp->output, fd, false);
	json_init(&otlp->json, &otlp->output);
	if (r == 0)
		r = otlp_tables_init(otlp);
	if (r == 0)
		r = otlp_samples_init(otlp);
	if (r == 0) {
		put_all(otlp);
		r = output_finish(&otlp->output);
	}
	otlp_tables_release(otlp);
	otlp_samples_release(&otlp->samples);
	output_release(&otlp->output);
	free(otlp);
	return r;
}
