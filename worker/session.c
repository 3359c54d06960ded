/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/event_rows.h"
#include "base/redact.h"
#include "bpf/abi.h"
#include "ipc/time.h"
#include "profile/format/format.h"
#include "profile/profile.h"
#include "worker/account/accounts.h"
#include "worker/kernel/kernel_symbols.h"
#include "worker/kernel/late_names.h"
#include "worker/context/contexts.h"
#include "worker/made/names.h"
#include "worker/sample/cgroups.h"
#include "worker/naming/debug_peer.h"
#include "worker/naming/resources.h"
#include "worker/process/file.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/parser.h"
#include "worker/process/process.h"
#include "worker/process/publisher.h"
#include "worker/process/segments.h"
#include "worker/process/table.h"
#include "worker/process/tracker.h"
#include "worker/ruleless.h"
#include "worker/runtime/functions.h"
#include "worker/sample/comm.h"
#include "worker/sample/event_ring.h"
#include "worker/sample/ring.h"
#include "worker/sample/samples.h"
#include "worker/sample/sideband.h"
#include "worker/stream.h"
#include "worker/why/findings.h"
#include "worker/words.h"

_Static_assert(REASON_COUNT <= SUMMARY_REASONS, "the summary has room for all reasons");

#define FIRST_RECORD_BYTES 1024 /* a guess for the first turn */
#define INTERVAL_MIN	   (2ull * 1000 * 1000)

struct session {
	struct session_parts parts;
	struct ring *rings;
	struct event_ring events;
	struct segments *segments;
	struct tables *tables;
	struct objects *objects;
	struct files *files;
	struct publisher *publisher;
	struct tracker *tracker;
	struct resources resources; /* owns the profile alone */
	struct product product;
	struct samples *samples;
	struct comm_filter *comm; /* NULL: none */
	struct stream *stream;
	struct late_names *late_names;
	struct cgroups *cgroups;
	struct functions *functions;
	struct made_names *made;
	struct contexts *contexts; /* NULL: the format has no resources */
	struct accounts *accounts; /* OPTIONS_STAT or OPTIONS_ACCOUNTS; else NULL */
	struct redact redact;
	uint64_t turn;	    /* counts turns */
	uint64_t last_turn; /* CLOCK_MONOTONIC, ns; 0: none yet */
	uint64_t fullest;   /* bytes that one ring had at most, in the last turn */
	uint64_t interval;  /* ns to the next turn */
	bool busy;	    /* the last turn, or an answer since, read events */
	bool noisy;	    /* the last turn read nothing but records that nobody waits for */
	struct symbol_cache *cache;
};

/* ---- life ---- */

/* Throws away all that an earlier worker left. BPF writes nothing yet that this worker needs. */
static void distrust(const struct session_parts *parts)
{
	memset(parts->processes, 0, sizeof(*parts->processes));
	for (uint32_t i = 0; i < ABI_MAX_CPUS; i++)
		parts->tails->tail[i] = RING_START(parts->config.epoch);
	parts->tails->next_look = 0;
	if (parts->config.epoch > 0)
		stream_skip(parts->event_consumer, parts->event_producer, parts->sidebands,
			    parts->sideband_count);
	parser_keep_journal(parts->parser, &parts->tails->journal);
}

static int init_rings(struct session *session)
{
	const struct message_config *config = &session->parts.config;

	session->rings = calloc(config->cpus, sizeof(*session->rings));
	if (!session->rings)
		return -ENOMEM;
	for (uint32_t i = 0; i < config->cpus; i++)
		ring_init(&session->rings[i],
			  (const char *)session->parts.rings + (size_t)i * config->ring_bytes,
			  config->ring_bytes, &session->parts.tails->tail[i]);
	event_ring_init(&session->events, session->parts.event_consumer,
			session->parts.event_producer, session->parts.page, EVENT_RING_BYTES);
	return 0;
}

static uint64_t count_records(const struct session *session)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < session->parts.sideband_count; i++)
		sum += session->parts.sidebands[i].records;
	return sum;
}

static void take_wait(void *context, const struct event_wait *wait)
{
	samples_end_wait(context, wait);
}

static bool read_streams(struct session *session, uint64_t now)
{
	const struct stream_names names = {
		.late_names = session->late_names,
		.cgroups = session->cgroups,
		.take_wait = take_wait,
		.context = session->samples,
	};
	const uint64_t events = stream_events(session->stream);
	bool busy = stream_read(session->stream, &session->events, &names, session->parts.sidebands,
				session->parts.sideband_count);

	/* where some processes are wanted, most records are of others */
	if (session->parts.config.flags & OPTIONS_FEW)
		busy = stream_events(session->stream) != events;
	if (busy)
		session->busy = true;
	if (!stream_behind(session->stream))
		samples_told_until(session->samples, now);
	if (session->parts.config.flags & OPTIONS_STAT) {
		stream_drop(session->stream);
		return false;
	}
	return stream_apply(session->stream, session->tracker, now);
}

static bool catch_up(void *context)
{
	struct session *session = context;

	read_streams(session, session->parts.clock());
	return !stream_behind(session->stream);
}

static int init_contexts(struct session *session)
{
	const struct contexts_parts contexts = {
		.target = session->parts.target,
		.processes = tracker_processes(session->tracker),
	};

	if (!format_find(session->parts.config.format)->wants_details)
		return 0;
	session->contexts = contexts_new(&contexts);
	if (!session->contexts)
		return -ENOMEM;
	return 0;
}

static int init_process(struct session *session)
{
	const struct session_parts *parts = &session->parts;
	struct tracker_parts tracker = {
		.target = parts->target,
		.clock = parts->clock,
		.known_only = parts->config.flags & OPTIONS_SOME,
		.catch_up = catch_up,
		.catch_up_context = session,
	};

	session->segments = segments_new(parts->target, SEGMENT_MAX);
	if (session->segments)
		session->tables = tables_new(session->segments);
	if (session->tables)
		session->objects = objects_new(session->tables, session->segments, parts->parser,
					       parts->descriptors);
	if (session->objects)
		session->files = files_new(session->objects, parts->target);
	if (session->files)
		session->publisher = publisher_new(session->segments, parts->processes);
	if (!session->publisher)
		return -ENOMEM;
	objects_set_redact(session->objects, &session->redact);
	if (parts->config.flags & OPTIONS_GO_LABELS)
		objects_want_labels(session->objects);
	tracker.objects = session->objects;
	tracker.files = session->files;
	tracker.publisher = session->publisher;
	session->functions = functions_new();
	if (!session->functions)
		return -ENOMEM;
	tracker.functions = session->functions;
	session->tracker = tracker_new(&tracker);
	if (!session->tracker)
		return -ENOMEM;
	session->made =
		made_names_new(parts->target, tracker_processes(session->tracker), parts->clock);
	if (!session->made)
		return -ENOMEM;
	return init_contexts(session);
}

/* The kernel's symbols count in the cache's limit. Where they exceed it, none are used. */
static int init_cache(struct session *session)
{
	struct session_parts *parts = &session->parts;

	session->cache = symbol_cache_new(SYMBOL_BYTES_MAX);
	if (!session->cache)
		return -ENOMEM;
	if (parts->symbols &&
	    !symbol_cache_claim(session->cache, kernel_symbols_bytes(parts->symbols)))
		parts->symbols = NULL;
	return 0;
}

static int init_samples(struct session *session)
{
	const struct message_config *config = &session->parts.config;
	struct samples_parts samples = {.tracker = session->tracker,
					.symbols = session->parts.symbols,
					.redact = &session->redact};
	int r;

	if (config->comm[0]) {
		r = comm_filter_new(config->comm, &session->comm);
		if (r < 0)
			return r;
	}
	session->resources.profile = profile_new();
	session->stream = stream_new();
	session->late_names = late_names_new();
	session->cgroups = cgroups_new();
	if (!session->resources.profile || !session->stream || !session->late_names ||
	    !session->cgroups)
		return -ENOMEM;
	if (format_find(config->format)->wants_times)
		profile_keep_times(session->resources.profile);
	if (session->parts.spill > 0)
		profile_spill_to(session->resources.profile, session->parts.spill);
	samples.comm = session->comm;
	samples.profile = session->resources.profile;
	samples.late_names = session->late_names;
	samples.cgroups = session->cgroups;
	samples.functions = session->functions;
	samples.made = session->made;
	/* `keyhole why` is about native frames */
	samples.details = format_find(config->format)->wants_details;
	samples.contexts = session->contexts;
	samples.off_cpu = config->flags & OPTIONS_OFF_CPU;
	samples.off_cpu_min = config->off_cpu_min;
	samples.tick = product_tick(&config->sampling);
	samples.realtime_offset = product_realtime_offset();
	samples.native_frames = config->flags & (OPTIONS_NATIVE_FRAMES | OPTIONS_WHY);
	session->samples = samples_new(&samples);
	if (!session->samples)
		return -ENOMEM;
	return 0;
}

static const char *path_of_cgroup(void *context, uint64_t id)
{
	return cgroups_find(context, id);
}

static bool wants_name(void *context, const char name[ABI_COMM_BYTES])
{
	return comm_filter_matches(context, name);
}

static int init_accounts(struct session *session)
{
	const struct session_parts *parts = &session->parts;
	struct accounts_parts accounts = {
		.places = parts->accounts,
		.cpus = parts->account_cpus,
		.note = &parts->tails->account_note,
		.cpu_count = parts->config.cpus,
		.flags = parts->config.flags,
		.top = parts->config.top,
		.epoch = parts->config.epoch,
		.tick = ACCOUNTS_TICK,
		.clock = parts->clock,
		.realtime_offset = product_realtime_offset(),
		.redact = &session->redact,
		.path = path_of_cgroup,
		.path_context = session->cgroups,
		.energy = parts->energy,
	};

	if (!(parts->config.flags & (OPTIONS_STAT | OPTIONS_ACCOUNTS)))
		return 0;
	if (session->comm) {
		accounts.wants = wants_name;
		accounts.wants_context = session->comm;
	}
	if (parts->config.flags & OPTIONS_ACCOUNTS)
		accounts.tick = ACCOUNTS_AGENT_TICK;
	session->accounts = accounts_new(&accounts);
	if (!session->accounts)
		return -ENOMEM;
	return 0;
}

static void init_product(struct session *session)
{
	const struct session_parts *parts = &session->parts;
	struct resources *resources = &session->resources;

	resources->objects = session->objects;
	resources->processes = tracker_processes(session->tracker);
	resources->samples = session->samples;
	resources->symbols = parts->symbols;
	resources->late_names = session->late_names;
	resources->functions = session->functions;
	resources->made = session->made;
	resources->redact = &session->redact;
	resources->cache = session->cache;
	resources->debug_files = parts->debug_files;
	resources->clock = parts->clock;
	product_init(&session->product, &parts->config, resources);
	if (parts->config.flags & OPTIONS_STAT)
		session->product.accounts = session->accounts;
	session->product.kernel = parts->kernel;
	words_read(parts->resource, &session->product.words);
	session->product.draft = parts->draft;
	session->product.draft_context = parts->draft_context;
}

static int init(struct session *session)
{
	const struct session_parts *parts = &session->parts;
	int r = redact_init(&session->redact, parts->config.names);

	if (r < 0)
		return r;
	distrust(parts);
	r = init_rings(session);
	if (r == 0)
		r = init_cache(session);
	if (r == 0)
		r = init_process(session);
	if (r == 0)
		r = init_samples(session);
	if (r == 0)
		r = init_accounts(session);
	if (r < 0)
		return r;
	init_product(session);
	if (!parts->vdso)
		return 0;
	return objects_set_vdso(session->objects, parts->vdso, parts->vdso_bytes);
}

static bool rings_are_valid(const struct message_config *config)
{
	const uint32_t bytes = config->ring_bytes;

	if (config->cpus == 0 || config->cpus > ABI_MAX_CPUS)
		return false;
	if (bytes < RING_BYTES_MIN || bytes > RING_BYTES_MAX)
		return false;
	return (bytes & (bytes - 1)) == 0;
}

static bool is_valid(const struct message_config *config)
{
	if (!rings_are_valid(config))
		return false;
	if (config->sampling.frequency == 0)
		return false;
	if (config->sampling.event && !event_row(config->sampling.event))
		return false;
	if (config->segments == 0 || config->segments > SEGMENT_MAX)
		return false;
	if (!memchr(config->comm, '\0', sizeof(config->comm)))
		return false;
	if (!memchr(config->host, '\0', sizeof(config->host)))
		return false;
	return format_find(config->format) != NULL;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

/* Returns the longest time between turns. */
static uint64_t longest_interval(const struct message_config *config)
{
	if (config->flags & OPTIONS_STAT)
		return ACCOUNTS_TICK;
	if (config->every > 0)
		return SESSION_TICK_SHORT;
	return SESSION_TICK;
}

/* Returns the time in which a quarter of a ring fills, by the rate and a guessed record size. */
static uint64_t first_interval(const struct message_config *config)
{
	uint64_t records = config->ring_bytes / 4 / FIRST_RECORD_BYTES;
	uint64_t interval = records * (NS_PER_SECOND / config->sampling.frequency);

	return at_most(interval, longest_interval(config));
}

int session_new(const struct session_parts *parts, struct session **ret_session)
{
	struct session *session;
	int r;

	if (!is_valid(&parts->config))
		return -EINVAL;
	session = calloc(1, sizeof(*session));
	if (!session)
		return -ENOMEM;
	session->parts = *parts;
	session->interval = first_interval(&parts->config);
	if (parts->config.every > 0)
		debug_peer_allow(parts->debug_files, DEBUG_PEER_WINDOW_MS);
	r = init(session);
	if (r < 0) {
		session_free(session);
		return r;
	}
	*ret_session = session;
	return 0;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	stream_free(session->stream);
	accounts_free(session->accounts);
	late_names_free(session->late_names);
	cgroups_free(session->cgroups);
	samples_free(session->samples);
	comm_filter_free(session->comm);
	product_release(&session->product);
	profile_free(session->resources.profile);
	made_names_free(session->made);
	contexts_free(session->contexts);
	tracker_free(session->tracker);
	functions_free(session->functions);
	publisher_free(session->publisher);
	files_free(session->files);
	objects_free(session->objects);
	tables_free(session->tables);
	segments_free(session->segments);
	symbol_cache_free(session->cache);
	free(session->rings);
	free(session);
}

int session_attach_segment(struct session *session, struct segment *memory)
{
	return segments_attach(session->segments, memory);
}

/* ---- turns ---- */

static void read_rings(struct session *session, uint64_t now)
{
	struct record head;
	const u64 *frames;

	session->fullest = 0;
	for (uint32_t i = 0; i < session->parts.config.cpus; i++) {
		struct ring *ring = &session->rings[i];
		uint64_t before = ring->position;

		while (ring_next(ring, &head, &frames))
			samples_hold(session->samples, &head, frames, session->turn, now);
		ring_publish(ring);
		if (ring->position - before > session->fullest)
			session->fullest = ring->position - before;
	}
}

/* Sets the time to the next turn, at which the ring that fills fastest is to be a quarter full. */
static void adapt_interval(struct session *session, uint64_t now)
{
	uint64_t passed = now - session->last_turn, quarter = session->parts.config.ring_bytes / 4;
	uint64_t longest = longest_interval(&session->parts.config), wanted = longest;

	if (session->last_turn != 0 && session->fullest > 0) {
		if (passed < INTERVAL_MIN) /* too little to go by */
			return;
		wanted = passed * quarter / session->fullest;
	}
	wanted = at_most(at_most(wanted, session->interval * 2), longest);
	if (wanted < INTERVAL_MIN)
		wanted = INTERVAL_MIN;
	session->interval = wanted;
}

uint64_t session_turn(struct session *session)
{
	uint64_t now = session->parts.clock(), records = count_records(session), resolved;
	bool soon;

	session->turn++;
	session->busy = false;
	if (session->accounts)
		accounts_turn(session->accounts);
	read_rings(session, now);
	adapt_interval(session, now);
	session->last_turn = now;
	soon = read_streams(session, now);
	session->noisy = !session->busy && count_records(session) != records;
	objects_turn(session->objects, now);
	segments_turn(session->segments, now);
	if (!stream_behind(session->stream)) {
		resolved = at_most(samples_oldest(session->samples), now);
		if (tracker_turn(session->tracker, now, resolved))
			soon = true;
		if (made_names_turn(session->made, now))
			soon = true;
		samples_resolve(session->samples, session->turn, now);
	}
	if (soon)
		return at_most(session->interval, SESSION_SOON);
	return session->interval;
}

int session_tell_accounts(struct session *session, const struct teller_channel *channel)
{
	if (!(session->parts.config.flags & OPTIONS_ACCOUNTS))
		return 0;
	return accounts_tell(session->accounts, channel);
}

bool session_is_busy(const struct session *session)
{
	return session->busy;
}

bool session_is_noisy(const struct session *session)
{
	return session->noisy;
}

void session_promise_turn(struct session *session, uint64_t when)
{
	__atomic_store_n(&session->parts.tails->next_look, when, __ATOMIC_RELEASE);
}

bool session_waiting(const struct session *session)
{
	return samples_held(session->samples) > 0;
}

/* ---- end ---- */

/* Returns until when threads that are off their CPU count. */
static uint64_t end_of_waits(const struct session *session)
{
	if (session->product.stopped)
		return session->product.stopped;
	return session->last_turn;
}

int session_finish(struct session *session)
{
	uint32_t why_pid;

	debug_peer_allow(session->parts.debug_files, DEBUG_PEER_WAIT_MS);
	session_turn(session);
	tracker_finish(session->tracker);
	samples_finish(session->samples, session->last_turn, end_of_waits(session));
	/* `keyhole why` profiles one process, which is the first that BPF tells of. */
	why_pid = stream_first_seen(session->stream);
	return product_finish(&session->product, why_pid);
}

int session_render_window(struct session *session, int fd)
{
	read_streams(session, session->parts.clock());
	return product_render_window(&session->product, fd);
}

struct product *session_product(struct session *session)
{
	return &session->product;
}

/* ---- figures ---- */

void session_name_process(const struct session *session, uint32_t pid,
			  char ret_name[SESSION_NAME_BYTES])
{
	const struct process *process = processes_live(tracker_processes(session->tracker), pid);
	char name[ABI_COMM_BYTES], text[REDACT_BYTES];

	memset(ret_name, 0, SESSION_NAME_BYTES);
	if (!process)
		return;
	process_name(process, name);
	snprintf(ret_name, SESSION_NAME_BYTES, "%s",
		 redact_name(&session->redact, REDACT_COMM, name, text));
}

void session_progress(const struct session *session, struct message_progress *ret_progress)
{
	struct samples_counts counts;

	samples_counts(session->samples, &counts);
	*ret_progress = (struct message_progress){counts.samples, counts.complete};
}

static uint64_t count_malformed(const struct session *session)
{
	uint64_t sum = session->events.discarded;

	for (size_t i = 0; i < session->parts.sideband_count; i++)
		sum += session->parts.sidebands[i].discarded;
	return sum;
}

static void count_objects(const struct session *session, struct message_summary *summary)
{
	struct objects_counts counts;

	objects_counts(session->objects, &counts);
	summary->limit[LIMIT_tables] = counts.no_room;
	summary->limit[LIMIT_unwind] = counts.no_rules;
	summary->limit[LIMIT_parsing] = counts.parsing_late;
	summary->limit[LIMIT_files] = files_put_off(session->files);
	summary->limit[LIMIT_descriptors] = counts.descriptors_closed;
	ruleless_find(session->objects, &session->redact, summary->object);
}

static void count_processes(const struct session *session, struct message_summary *summary)
{
	struct tracker_counts counts;
	struct publisher_counts published;

	tracker_counts(session->tracker, &counts);
	publisher_counts(session->publisher, &published);
	summary->limit[LIMIT_sideband] = counts.sideband_lost;
	summary->limit[LIMIT_slots] = published.no_slot;
	summary->limit[LIMIT_blocks] = published.no_room;
	summary->limit[LIMIT_mappings] = counts.mappings_refused;
	summary->limit[LIMIT_closed] = mappings_forgotten();
	summary->limit[LIMIT_launches] = counts.launches_dropped;
	summary->limit[LIMIT_listings] = counts.relists_refused;
}

static void count_samples(const struct session *session, struct message_summary *summary)
{
	struct samples_counts counts;
	uint64_t held[REASON_COUNT];

	samples_counts(session->samples, &counts);
	samples_held_reasons(session->samples, held);
	summary->off_cpu = (struct summary_off_cpu){
		.waits = counts.waits.waits,
		.ns = counts.waits.ns,
		.error = counts.waits.error,
		.open = counts.waits.open,
		.shorter = counts.waits.shorter,
		.least_probability = counts.waits.least_probability,
	};
	summary->limit[LIMIT_waits] = counts.waits.lost;
	summary->unkept = counts.failed;
	summary->filtered = counts.filtered;
	for (unsigned int i = 0; i < REASON_COUNT; i++)
		summary->reason[i] = counts.reason[i] - held[i];
	for (uint32_t i = 0; i < session->parts.config.cpus; i++)
		summary->discarded += session->rings[i].discarded;
	summary->limit[LIMIT_held] = counts.held;
	summary->limit[LIMIT_early] = counts.early;
	summary->limit[LIMIT_kernel_stack] = counts.kernel_cut;
	summary->limit[LIMIT_kernel_ranges] = counts.kernel_unknown;
	summary->limit[LIMIT_grants] = counts.runtime[RUNTIME_NOT_GRANTED] +
				       counts.runtime[RUNTIME_DENIED] +
				       counts.runtime[RUNTIME_OVERDRAWN];
	summary->limit[LIMIT_lists] = counts.malformed + counts.runtime[RUNTIME_NOT_NOW] +
				      counts.runtime[RUNTIME_CUT_READ] +
				      counts.runtime[RUNTIME_CUT_DEPTH] +
				      counts.runtime[RUNTIME_CUT_BUDGET];
}

static void count_functions(const struct session *session, struct message_summary *summary)
{
	struct functions_counts counts;
	struct made_counts made;

	functions_counts(session->functions, &counts);
	summary->limit[LIMIT_functions] = counts.untold + counts.refused;
	summary->limit[LIMIT_unverified] = counts.unverified;
	made_names_counts(session->made, &made);
	summary->limit[LIMIT_made] = made.refused;
}

static void count_runtimes(const struct session *session, struct message_summary *summary)
{
	const struct runtimes *runtimes = &session->product.runtimes;

	for (size_t i = 0; i < SUMMARY_RUNTIMES; i++) {
		struct summary_runtime *to = &summary->runtime[i];

		to->samples = runtimes->item[i].samples;
		to->runtime = runtimes->item[i].runtime;
		findings_clean(runtimes->item[i].name, to->name, sizeof(to->name));
	}
}

void session_summary(const struct session *session, struct message_summary *ret_summary)
{
	struct symbol_cache_counts cache;

	*ret_summary = (struct message_summary){
		.without_names = product_without_names(&session->product),
	};
	count_samples(session, ret_summary);
	count_objects(session, ret_summary);
	count_processes(session, ret_summary);
	count_functions(session, ret_summary);
	symbol_cache_counts(session->cache, &cache);
	ret_summary->limit[LIMIT_symbols] = cache.refused;
	ret_summary->limit[LIMIT_malformed] = count_malformed(session);
	ret_summary->limit[LIMIT_lines] = session->product.line_counts.left;
	ret_summary->limit[LIMIT_names] = session->product.unnamed;
	count_runtimes(session, ret_summary);
	ret_summary->limit[LIMIT_times] = profile_moments_dropped(session->resources.profile);
}

static void count_contexts(const struct session *session, struct session_totals *totals)
{
	struct samples_counts counts;

	samples_counts(session->samples, &counts);
	memcpy(totals->contexts, counts.context, sizeof(totals->contexts));
	totals->links_lost = counts.links_lost;
	memcpy(totals->labels, counts.labels, sizeof(totals->labels));
	totals->labels_lost = counts.labels_lost;
}

void session_totals(const struct session *session, struct session_totals *ret_totals)
{
	struct objects_counts objects;
	struct tracker_counts tracker;

	objects_counts(session->objects, &objects);
	tracker_counts(session->tracker, &tracker);
	*ret_totals = (struct session_totals){
		.processes = tracker.processes,
		.objects = objects.objects,
		.objects_failed = objects.failed,
		.labels_unknown = objects.labels_unknown,
		.relists = tracker.relists,
		.grants_given = tracker.grants_given,
		.grants_refused = tracker.grants_refused,
		.names = session->product.names,
		.naming_time = session->product.naming_time,
		.line_counts = session->product.line_counts,
	};
	ret_totals->distinct = profile_samples(session->resources.profile);
	ret_totals->spilled = profile_spilled(session->resources.profile, &ret_totals->spill_error);
	functions_counts(session->functions, &ret_totals->functions);
	count_contexts(session, ret_totals);
	symbol_cache_counts(session->cache, &ret_totals->cache);
	tables_totals(session->tables, &ret_totals->table_bytes, &ret_totals->table_rows);
}

const struct profile *session_profile(const struct session *session)
{
	return session->resources.profile;
}

struct tracker *session_tracker(struct session *session)
{
	return session->tracker;
}

const struct objects *session_objects(const struct session *session)
{
	return session->objects;
}
