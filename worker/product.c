/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/product.h"

#include <errno.h>
#include <inttypes.h>

#include "base/event_rows.h"
#include "base/waited.h"
#include "ipc/log.h"
#include "ipc/time.h"
#include "profile/format/format.h"
#include "profile/profile.h"
#include "profile/reachable.h"
#include "worker/account/accounts.h"
#include "worker/naming/debug_peer.h"
#include "worker/naming/resources.h"
#include "worker/process/object.h"
#include "worker/runtime/functions.h"
#include "worker/sample/samples.h"
#include "worker/why/why.h"

void product_init(struct product *product, const struct message_config *config,
		  struct resources *resources)
{
	*product = (struct product){
		.config = config,
		.resources = resources,
		.window = resources->clock(),
	};
}

void product_release(struct product *product)
{
	sources_release(&product->sources);
}

/* ---- names ---- */

static bool wants_lines(const struct message_config *config)
{
	return !(config->flags & (OPTIONS_NO_INLINE | OPTIONS_WHY)) && config->every == 0;
}

static int name(struct product *product, uint64_t patience)
{
	const struct resources *resources = product->resources;
	struct naming_parts naming = {
		.resources = resources,
		.counts = &product->names,
		.patience = patience,
	};
	const uint64_t began = resources->clock();
	const uint64_t lines_time = product->line_counts.time; /* a figure of its own */
	int r;

	if (wants_lines(product->config)) {
		naming.line_counts = &product->line_counts;
		naming.named = product->draft;
		naming.named_context = product->draft_context;
	}
	r = naming_run(&naming);
	product->naming_time +=
		resources->clock() - began - (product->line_counts.time - lines_time);
	return r;
}

/* ---- runtimes ---- */

/* Tells the profile which of its objects are runtimes: the parse thread may know that late. */
static void mark_runtimes(const struct resources *resources)
{
	const struct object *object;
	size_t cursor = 0;

	while ((object = objects_next(resources->objects, &cursor)) != NULL)
		if (object->profile_id && object->runtime)
			profile_object_get(resources->profile, object->profile_id)->runtime =
				object->runtime;
}

/* Counts the samples of runtimes in this window, and notes them in the profile. */
static int note_runtimes(struct product *product)
{
	struct profile *profile = product->resources->profile;
	struct runtimes runtimes = {0};
	int r;

	mark_runtimes(product->resources);
	r = runtimes_add(&runtimes, profile);

	if (r < 0)
		return r;
	runtimes_merge(&product->runtimes, &runtimes);
	return runtimes_note(&runtimes, profile);
}

/* Adds a note about processes that mostly waited. */
static int note_waited(const struct product *product)
{
	char text[WAITED_NOTE_BYTES];

	if (!waited_is_noted(&product->waited))
		return 0;
	waited_note(text, &product->waited);
	return profile_note_add(product->resources->profile, text);
}

/*
 * Returns the samples without names of the profile. Where counts are times of threads, that is as
 * many of the samples as it is of the time.
 */
static uint64_t count_without(const struct product *product)
{
	const struct resources *resources = product->resources;
	const uint64_t without = naming_without(resources->profile);
	struct format_totals totals;
	struct samples_counts counts;

	if (!(product->config->flags & OPTIONS_OFF_CPU) || without == 0)
		return without;
	format_totals(resources->profile, &totals);
	samples_counts(resources->samples, &counts);
	return (uint64_t)((double)without / (double)totals.samples *
			  (double)(counts.samples - product->samples));
}

/* ---- end ---- */

int product_stop(struct product *product, const struct message_stop *stop)
{
	product->stopped = stop->stopped;
	if (product->config->every > 0)
		return 0;
	product->waited = stop->waited;
	return note_waited(product);
}

int product_finish(struct product *product, uint32_t pid)
{
	uint64_t unasked;
	int r;

	if (product->draft)
		product->draft(product->draft_context);
	r = name(product, 0);
	unasked = debug_peer_unasked(product->resources->debug_files);
	if (unasked > 0)
		log_info("names: %" PRIu64 " debug files not asked for: others took long", unasked);
	product->without_names += count_without(product);
	product->unnamed += naming_failed(product->resources->profile);
	product->named = true;
	if (r == 0)
		r = note_runtimes(product);
	if (r == 0)
		r = note_waited(product);
	if (r < 0 || !(product->config->flags & OPTIONS_WHY))
		return r;
	return sources_collect(product->resources, pid, &product->sources);
}

int product_describe(struct product *product)
{
	const struct naming_parts naming = {
		.resources = product->resources,
		.counts = &product->names,
	};

	return naming_describe(&naming);
}

uint64_t product_without_names(const struct product *product)
{
	if (product->named)
		return product->without_names;
	return product->without_names + count_without(product);
}

/* ---- bytes ---- */

#ifdef __x86_64__
#define ARCH "amd64"
#elif defined(__aarch64__)
#define ARCH "arm64"
#endif

uint64_t product_realtime_offset(void)
{
	return time_since_1970() - time_now();
}

uint64_t product_tick(const struct message_sampling *sampling)
{
	if (sampling->period)
		return sampling->period;
	return NS_PER_SECOND / sampling->frequency;
}

/* Times of threads: a count is worth 1 ns. */
static void count_time(const struct message_config *config, struct profile_times *times)
{
	if (!(config->flags & OPTIONS_OFF_CPU))
		return;
	times->tick = times->period;
	times->period = 1;
	times->unit = "nanoseconds";
	times->type = "off_cpu";
	if (config->flags & OPTIONS_WALL)
		times->type = "wall";
}

static struct profile_times times_of(const struct message_config *config, uint64_t start,
				     uint64_t end)
{
	const struct message_sampling *sampling = &config->sampling;
	struct profile_times times = {
		.start_monotonic_ns = start,
		.start_realtime_ns = start + product_realtime_offset(),
		.duration_ns = end - start,
		.period = product_tick(sampling),
		.event = event_counted(sampling->event, sampling->period),
		.arch = ARCH,
		.walked = true,
	};

	count_time(config, &times);
	return times;
}

static int render(const struct product *product, const struct profile *profile, uint64_t start,
		  uint64_t end, int fd)
{
	const struct message_config *config = product->config;
	struct profile_times times = times_of(config, start, end);
	const struct format_options options = {
		.by_thread = config->flags & OPTIONS_BY_THREAD,
		.otlp_compat = config->flags & OPTIONS_OTLP_COMPAT,
	};

	times.kernel = product->kernel;
	times.own = words_own(&product->words);
	if (config->host[0])
		times.host = config->host;
	if (config->flags & OPTIONS_WHY)
		return why_render(profile, &product->sources, &times, fd);
	return format_find(config->format)->render(profile, &times, &options, fd);
}

/* Returns whether a window without samples leaves its file empty: nobody sends or keeps that. */
static bool skips_empty(const struct message_config *config)
{
	return config->flags & OPTIONS_AGENT || format_find(config->format)->skips_empty;
}

/* Renders the samples of this window with their names, without those of other windows. */
static int render_window(const struct product *product, uint64_t end, int fd)
{
	struct profile *part;
	int r = profile_reachable(product->resources->profile, &part);

	if (r < 0)
		return r;
	if (profile_samples(part) > 0 || !skips_empty(product->config))
		r = render(product, part, product->window, end, fd);
	profile_free(part);
	return r;
}

int product_render(const struct product *product, const struct message_stop *stop, int fd)
{
	uint64_t end = stop->stopped;

	if (product->accounts)
		return accounts_render(product->accounts, false, fd);
	if (product->config->every == 0)
		return render(product, product->resources->profile, stop->started, stop->stopped,
			      fd);
	if (end < product->window)
		end = product->window;
	return render_window(product, end, fd);
}

/* ---- windows ---- */

static bool is_full(const struct product *product)
{
	return profile_locations(product->resources->profile) > WINDOW_LOCATIONS_MAX ||
	       profile_strings(product->resources->profile) > WINDOW_STRINGS_MAX ||
	       product->names.bytes - product->kept_bytes > WINDOW_NAME_BYTES_MAX;
}

/* Begins another profile, without the names that this one keeps for later windows. */
static int begin_profile(struct product *product)
{
	struct profile *profile = profile_new();

	if (!profile)
		return -ENOMEM;
	if (profile_keeps_times(product->resources->profile))
		profile_keep_times(profile);
	log_info("stream: names of %" PRIu32 " locations: forgotten",
		 profile_locations(product->resources->profile));
	product->unnamed += naming_failed(product->resources->profile);
	profile_free(product->resources->profile);
	product->resources->profile = profile;
	product->kept_bytes = product->names.bytes;
	samples_use(product->resources->samples, profile);
	objects_forget_profile(product->resources->objects);
	return 0;
}

/* Names are in the profile by now. */
static void forget_functions(const struct product *product)
{
	if (product->resources->functions && product->window > FUNCTIONS_KEPT_FOR)
		functions_forget(product->resources->functions,
				 product->window - FUNCTIONS_KEPT_FOR);
}

int product_name_some(struct product *product)
{
	return name(product, WINDOW_PATIENCE_NS);
}

int product_render_window(struct product *product, int fd)
{
	const uint64_t end = product->resources->clock();
	struct samples_counts counts;
	int r;

	if (product->accounts)
		return accounts_render(product->accounts, true, fd);
	samples_close_window(product->resources->samples);
	r = note_runtimes(product);

	if (r < 0)
		return r;
	r = render_window(product, end, fd);
	if (r < 0)
		return r;
	product->without_names += count_without(product);
	samples_counts(product->resources->samples, &counts);
	product->samples = counts.samples;
	product->window = end;
	forget_functions(product);
	debug_peer_allow(product->resources->debug_files, DEBUG_PEER_WINDOW_MS);
	if (is_full(product))
		return begin_profile(product);
	samples_begin_window(product->resources->samples);
	return profile_forget_samples(product->resources->profile);
}
