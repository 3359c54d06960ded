/* SPDX-License-Identifier: Apache-2.0 */
#include "helper/options/setters.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/decimal.h"
#include "base/formats.h"
#include "base/output_name.h"
#include "helper/options/events.h"
#include "ipc/time.h"
#include "policy/policy.h"

/* ---- flags and texts ------------------------------------------------------------------------- */

static const char *set_flag(void *target, const char *argument, size_t flag)
{
	struct line *line = target;

	(void)argument;
	line->options->flags |= (uint32_t)flag;
	return NULL;
}

static const char *set_log_format(void *target, const char *argument, size_t value)
{
	struct line *line = target;

	(void)value;
	line->options->flags &= ~OPTIONS_LOG_JSON;
	if (!strcmp(argument, "json"))
		line->options->flags |= OPTIONS_LOG_JSON;
	else if (strcmp(argument, "text") != 0)
		return "not a format of log lines; take text or json";
	return NULL;
}

static const char *clear_flag(void *target, const char *argument, size_t flag)
{
	struct line *line = target;

	(void)argument;
	line->options->flags &= ~(uint32_t)flag;
	return NULL;
}

/*
 * Notes where a text is, for the loader has the same argv: the argument that getopt() took last,
 * counted without the program's name. Value is the offset of the struct message_text.
 */
static const char *set_place(void *target, const char *argument, size_t value)
{
	struct line *line = target;
	struct message_text *place = (struct message_text *)((char *)line->options + value);

	place->index = (uint32_t)optind;
	place->offset = (uint32_t)(argument - line->argv[optind - 1]);
	return NULL;
}

/* ---- targets --------------------------------------------------------------------------------- */

const char *setters_add_pid(void *target, const char *argument, size_t value)
{
	struct line *line = target;
	struct message_options *options = line->options;
	uint32_t pid;

	(void)value;
	if (options->pid_count + options->excluded_count == OPTIONS_PIDS_MAX)
		return "more than 64 processes; take -a or --cgroup";
	if (!decimal_read32(argument, 1, OPTIONS_PID_MAX, &pid))
		return "not a process id";
	options->pids[options->pid_count++] = pid;
	return NULL;
}

static const char *set_cgroup(void *target, const char *argument, size_t value)
{
	struct line *line = target;

	(void)value;
	if (line->options->cgroup.index)
		return "only one cgroup can be given";
	return set_place(line, argument, offsetof(struct message_options, cgroup));
}

/* ---- filters --------------------------------------------------------------------------------- */

static const char *set_comm(void *target, const char *argument, size_t value)
{
	struct line *line = target;

	(void)value;
	line->options->flags |= OPTIONS_COMM;
	set_place(line, argument, offsetof(struct message_options, comm));
	return filters_check_comm(argument);
}

static const char *add_uids(void *target, const char *argument, size_t value)
{
	struct line *line = target;

	(void)value;
	return filters_add_uids(&line->filters, argument);
}

static const char *add_excluded_pids(void *target, const char *argument, size_t value)
{
	struct line *line = target;

	(void)value;
	return filters_add_excluded_pids(&line->filters, argument);
}

static const char *add_excluded_cgroups(void *target, const char *argument, size_t value)
{
	struct line *line = target;

	(void)value;
	return filters_add_excluded_cgroups(&line->filters, argument);
}

/* Value: FILTER_NO_*. */
static const char *show(void *target, const char *argument, size_t value)
{
	struct line *line = target;

	(void)argument;
	filters_hide(&line->filters, (uint32_t)value, false);
	return NULL;
}

static const char *hide(void *target, const char *argument, size_t value)
{
	struct line *line = target;

	(void)argument;
	filters_hide(&line->filters, (uint32_t)value, true);
	return NULL;
}

/* ---- rate and time --------------------------------------------------------------------------- */

static const char *set_event(void *target, const char *argument, size_t value)
{
	struct line *line = target;

	(void)value;
	if (line->event)
		return "only one event can be given";
	line->event = argument;
	return events_parse(argument, &line->options->sampling);
}

static const char *set_frequency(void *target, const char *argument, size_t value)
{
	struct line *line = target;
	uint32_t *frequency = &line->options->sampling.frequency;

	(void)value;
	if (!decimal_read32(argument, 1, OPTIONS_FREQUENCY_MAX, frequency))
		return "not a frequency of 1 to 10000 Hz";
	return NULL;
}

static const char *set_duration(void *target, const char *argument, size_t value)
{
	const double most = (double)OPTIONS_DURATION_MAX / (double)NS_PER_SECOND;
	struct line *line = target;
	char *end;
	double seconds = strtod(argument, &end);

	(void)value;
	if (end == argument || *end || !isfinite(seconds) || seconds < 0.001 || seconds > most)
		return "not a number of seconds";
	line->options->duration = (uint64_t)(seconds * (double)NS_PER_SECOND);
	return NULL;
}

/*
 * Splits "10ms" into the digits and the ns of the unit. A number without a unit has `bare`, the
 * smallest unit; 0: each number has a unit. Returns 0 for what is no unit.
 */
static uint64_t split_unit(char *text, uint64_t bare)
{
	static const struct {
		const char *suffix;
		uint64_t ns;
	} units[] = {{"ns", 1},
		     {"us", NS_PER_SECOND / 1000000},
		     {"ms", NS_PER_MS},
		     {"s", NS_PER_SECOND},
		     {"m", 60 * NS_PER_SECOND},
		     {"h", 3600 * NS_PER_SECOND}};
	char *suffix = text + strspn(text, "0123456789");

	if (!*suffix)
		return bare;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(suffix, units[i].suffix) != 0 || units[i].ns < bare)
			continue;
		*suffix = '\0';
		return units[i].ns;
	}
	return 0;
}

/* Returns whether an argument is a time of at most `most` ns. bare: see split_unit(). */
static bool read_time(const char *argument, uint64_t bare, uint64_t most, uint64_t *ret_ns)
{
	char text[16];
	uint64_t unit, count;

	if (strlen(argument) >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%s", argument);
	unit = split_unit(text, bare);
	if (!unit || !decimal_read(text, 0, most / unit, &count))
		return false;
	*ret_ns = count * unit;
	return true;
}

/* Value: OPTIONS_OFF_CPU. */
static const char *set_off_cpu(void *target, const char *argument, size_t value)
{
	struct line *line = target;
	uint64_t *least = &line->options->off_cpu_min;

	line->options->flags |= (uint32_t)value;
	*least = 0;
	if (argument && !read_time(argument, 0, OPTIONS_OFF_CPU_MAX, least))
		return "not a time such as 100us, 10ms or 1s, 1000s at most";
	return NULL;
}

static const char *set_every(void *target, const char *argument, size_t value)
{
	struct line *line = target;

	(void)value;
	if (!decimal_read32(argument, 1, OPTIONS_EVERY_MAX, &line->options->every))
		return "not a number of seconds, 1 to 255";
	return NULL;
}

static const char *set_top(void *target, const char *argument, size_t value)
{
	struct line *line = target;

	(void)value;
	if (!decimal_read32(argument, 1, ACCOUNTS_TOP_MAX, &line->options->top))
		return "not a number of rows, 1 to 100";
	line->options->flags |= OPTIONS_ACCOUNTS;
	return NULL;
}

/* At 100 percent, nothing is left to chance. */
static const char *set_threshold(void *target, const char *argument, size_t value)
{
	struct line *line = target;
	uint32_t percent;

	(void)value;
	if (!decimal_read32(argument, 1, 100, &percent))
		return "not a percentage of 1 to 100";
	line->options->chance.threshold = percent % 100;
	return NULL;
}

static const char *set_chance_interval(void *target, const char *argument, size_t value)
{
	struct line *line = target;
	uint64_t ns;

	(void)value;
	if (!read_time(argument, NS_PER_SECOND, CHANCE_INTERVAL_MAX * NS_PER_SECOND, &ns) || !ns)
		return "not a time such as 90s, 1m or 1h, 24h at most";
	line->options->chance.interval = (uint32_t)(ns / NS_PER_SECOND);
	return NULL;
}

/* ---- output ---------------------------------------------------------------------------------- */

/* A name of standard output, such as /dev/stdout, is the same as "-". */
static const char *set_output(void *target, const char *argument, size_t value)
{
	struct line *line = target;
	struct message_options *options = line->options;

	(void)value;
	line->output = argument;
	if (output_name_descriptor(argument) != STDOUT_FILENO)
		return set_place(line, argument, offsetof(struct message_options, output));
	line->output = "-";
	options->output = (struct message_text){0};
	snprintf(options->name, sizeof(options->name), "%s", line->output);
	return NULL;
}

static const char *set_format(void *target, const char *argument, size_t value)
{
	static char text[640];
	struct line *line = target;

	(void)value;
	line->options->format = formats_by_name(argument);
	if (line->options->format)
		return NULL;
	snprintf(text, sizeof(text), "not a format; take %s", formats_names(" or "));
	return text;
}

/* ---- where profiles go ----------------------------------------------------------------------- */

static const char *set_config(void *target, const char *argument, size_t value)
{
	struct line *line = target;

	(void)value;
	line->config = argument;
	return NULL;
}

typedef const char *destination_setter(struct destination *destination, const char *argument);

/* The setters that take a text. A row has the index as its value. */
enum {
	SET_ENDPOINT,
	SET_PROTOCOL,
	SET_COMPRESSION,
	SET_TIMEOUT,
	ADD_HEADER,
	SET_PROXY,
	SET_PAGE,
	SET_METRICS,
};

static const char *set_destination(void *target, const char *argument, size_t value)
{
	static destination_setter *const setters[] = {
		[SET_ENDPOINT] = destination_set_endpoint,
		[SET_PROTOCOL] = destination_set_protocol,
		[SET_COMPRESSION] = destination_set_compression,
		[SET_TIMEOUT] = destination_set_timeout,
		[ADD_HEADER] = destination_add_header,
		[SET_PROXY] = destination_set_proxy,
		[SET_PAGE] = destination_set_page,
		[SET_METRICS] = destination_set_metrics,
	};
	struct line *line = target;

	return setters[value](line->destination, argument);
}

/* In KiB. A suffix K, M or G is a unit of 1024. */
static const char *set_spool(void *target, const char *argument, size_t value)
{
	static const char *const reason = "not a size, 64K to 1024G";
	static const char units[] = "KMG";
	struct line *line = target;
	const size_t digits = strspn(argument, "0123456789");
	const char *unit = argument[digits] ? strchr(units, argument[digits]) : NULL;
	char number[16];
	uint64_t size;

	(void)value;
	if (digits >= sizeof(number) || (argument[digits] && (!unit || argument[digits + 1])))
		return reason;
	snprintf(number, sizeof(number), "%.*s", (int)digits, argument);
	if (!decimal_read(number, 0, (uint64_t)OPTIONS_SPOOL_MAX << 10, &size))
		return reason;
	if (!unit)
		size >>= 10;
	else
		size <<= 10 * (unit - units);
	if (size < OPTIONS_SPOOL_MIN || size > OPTIONS_SPOOL_MAX)
		return reason;
	line->options->spool = (uint32_t)size;
	return NULL;
}

/* Value: enum wanted_file. */
static const char *set_file(void *target, const char *argument, size_t value)
{
	struct line *line = target;

	return destination_set_file(line->destination, (enum wanted_file)value, argument);
}

/* ---- layers ---------------------------------------------------------------------------------- */

/* userns: the layers that a process can have by a user namespace alone. */
static uint32_t layer_bits(const char *name, size_t length)
{
	static const struct {
		const char *name;
		uint32_t bits;
	} names[] = {
#define L(name, help) {#name, LAYER_BIT(name)},
#include "policy/layers.def"
#undef L
		{"userns", LAYER_BIT(namespaces) | LAYER_BIT(pid) | LAYER_BIT(root)},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == length && !strncmp(names[i].name, name, length))
			return names[i].bits;
	return 0;
}

static const char *refuse_layer(const char *name, size_t length)
{
	static const char reason[] =
		"not a layer; take of namespaces, pid, root, landlock and userns";
	static char text[256];

	if (!name)
		return reason;
	snprintf(text, sizeof(text), "%.*s: %s", (int)length, name, reason);
	return text;
}

/* The argument is a list, such as "landlock,pid". */
static const char *add_layers(void *target, const char *argument, size_t value)
{
	const bool is_list = strchr(argument, ',') != NULL;
	struct line *line = target;
	const char *name = argument;

	(void)value;
	for (;;) {
		size_t length = strcspn(name, ",");
		uint32_t bits = layer_bits(name, length);

		if (!bits && is_list)
			return refuse_layer(name, length);
		if (!bits)
			return refuse_layer(NULL, 0);
		line->options->require |= bits;
		if (!name[length])
			return NULL;
		name += length + 1;
	}
}

/* ---- the table ------------------------------------------------------------------------------- */

const struct option_row setters_rows[] = {
#define OPTION(name, letter, argument, verbs, set, value, completion, help, manual) \
	{name, letter, argument, verbs, help, set, value},
#define TEXT(verbs, help, manual) {NULL, '\0', NULL, verbs, help, NULL, 0},
#include "helper/options/options.def"
#undef OPTION
#undef TEXT
};
const size_t setters_count = sizeof(setters_rows) / sizeof(setters_rows[0]);

_Static_assert(sizeof(setters_rows) / sizeof(setters_rows[0]) <= OPTION_ROWS_MAX,
	       "option_read() reads no more");
