/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi.h"
#include "ipc/log.h"
#include "base/event_rows.h"
#include "base/redact.h"
#include "profile/format/format.h"
#include "worker/why/why.h"
#include "worker/naming/naming.h"
#include "worker/process/file.h"
#include "worker/process/mapping.h"
#include "worker/process/object.h"
#include "worker/process/parser.h"
#include "worker/process/publisher.h"
#include "worker/process/segments.h"
#include "worker/process/table.h"
#include "worker/process/tracker.h"
#include "profile/profile.h"
#include "profile/reachable.h"
#include "worker/sample/comm.h"
#include "worker/sample/event_ring.h"
#include "worker/sample/ring.h"
#include "worker/sample/samples.h"
#include "worker/sample/sideband.h"
#include "worker/why/sources.h"
#include "worker/stream.h"
#include "worker/kernel/kernel_symbols.h"
#include "worker/kernel/late_names.h"
#include "worker/naming/debug_peer.h"

_Static_assert(REASON_COUNT <= SUMMARY_REASONS, "the summary has room for all reasons");

#define FIRST_RECORD_BYTES 1024 /* a guess, until records were seen */
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
	struct profile *profile;
	struct samples *samples;
	struct comm_filter *comm; /* NULL: none */
	struct stream *stream;
	struct late_names *late_names;
	struct redact redact;
	uint64_t turn, last, fullest; /* fullest: bytes of the ring that had most */
	uint64_t interval;
	uint64_t window; /* of a stream: since when */
	uint64_t without_names, unnamed;
	struct symbol_cache *cache;
	struct naming_counts names;
	uint64_t kept_bytes; /* names.bytes when the profile was begun */
	uint64_t naming_time;
	struct source_lines_counts inlines;
	struct sources sources; /* OPTIONS_WHY */
};

/* ---- life ---- */

/* Whatever a worker before has left there. BPF writes nothing yet that this one has to know. */
static void distrust(const struct session_parts *parts)
{
	memset(parts->processes, 0, sizeof(*parts->processes));
	for (uint32_t i = 0; i < ABI_MAX_CPUS; i++)
		parts->tails->tail[i] = RING_START(parts->config.epoch);
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
	distrust(&session->parts);
	for (uint32_t i = 0; i < config->cpus; i++)
		ring_init(&session->rings[i],
			  (const char *)session->parts.rings + (size_t)i * config->ring_bytes,
			  config->ring_bytes, &session->parts.tails->tail[i]);
	event_ring_init(&session->events, session->parts.event_consumer,
			session->parts.event_producer, session->parts.page, EVENT_RING_BYTES);
	return 0;
}

static bool read_streams(struct session *session, uint64_t now)
{
	stream_read(session->stream, &session->events, session->late_names,
		    session->parts.sidebands, session->parts.sideband_count);
	return stream_apply(session->stream, session->tracker, now);
}

static bool catch_up(void *context)
{
	struct session *session = context;

	read_streams(session, session->parts.clock());
	return !stream_behind(session->stream);
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
	tracker.objects = session->objects;
	tracker.files = session->files;
	tracker.publisher = session->publisher;
	session->tracker = tracker_new(&tracker);
	return session->tracker ? 0 : -ENOMEM;
}

/* What the kernel's symbols take is not left for others; beyond it there are none. */
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
	struct samples_parts samples = {.tracker = session->tracker,
					.symbols = session->parts.symbols,
					.redact = &session->redact};
	int r = 0;

	if (session->parts.config.comm[0])
		r = comm_filter_new(session->parts.config.comm, &session->comm);
	if (r < 0)
		return r;
	samples.comm = session->comm;
	session->profile = profile_new();
	session->stream = stream_new();
	session->late_names = late_names_new();
	samples.profile = session->profile;
	samples.late_names = session->late_names;
	if (!session->profile || !session->stream || !session->late_names)
		return -ENOMEM;
	if (format_find(session->parts.config.format)->wants_times)
		profile_keep_times(session->profile);
	session->samples = samples_new(&samples);
	return session->samples ? 0 : -ENOMEM;
}

static int init(struct session *session)
{
	const struct session_parts *parts = &session->parts;
	int r = redact_init(&session->redact, parts->config.names);

	if (r == 0)
		r = init_rings(session);
	if (r == 0)
		r = init_cache(session);
	if (r == 0)
		r = init_process(session);
	if (r == 0)
		r = init_samples(session);
	if (r == 0 && parts->vdso)
		r = objects_set_vdso(session->objects, parts->vdso, parts->vdso_bytes);
	return r;
}

static bool valid(const struct message_config *config)
{
	uint32_t bytes = config->ring_bytes;

	return config->cpus > 0 && config->cpus <= ABI_MAX_CPUS && bytes >= RING_BYTES_MIN &&
	       bytes <= RING_BYTES_MAX && (bytes & (bytes - 1)) == 0 &&
	       config->sampling.frequency > 0 &&
	       (!config->sampling.event || event_row(config->sampling.event)) &&
	       config->segments > 0 && config->segments <= SEGMENT_MAX &&
	       memchr(config->comm, '\0', sizeof(config->comm)) && format_find(config->format);
}

/* From rate and a guessed size: a quarter of a ring at most. */
static uint64_t first_interval(const struct message_config *config)
{
	uint64_t records = config->ring_bytes / 4 / FIRST_RECORD_BYTES;
	uint64_t interval = records * (NS_PER_SECOND / config->sampling.frequency);

	return interval < SESSION_TICK ? interval : SESSION_TICK;
}

int session_new(const struct session_parts *parts, struct session **ret_session)
{
	struct session *session;
	int r;

	if (!valid(&parts->config))
		return -EINVAL;
	session = calloc(1, sizeof(*session));
	if (!session)
		return -ENOMEM;
	session->parts = *parts;
	session->interval = first_interval(&parts->config);
	session->window = parts->clock();
	if (session_every(&parts->config))
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
	late_names_free(session->late_names);
	samples_free(session->samples);
	comm_filter_free(session->comm);
	profile_free(session->profile);
	tracker_free(session->tracker);
	publisher_free(session->publisher);
	files_free(session->files);
	objects_free(session->objects);
	tables_free(session->tables);
	segments_free(session->segments);
	symbol_cache_free(session->cache);
	sources_release(&session->sources);
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

/* So that the ring that fills fastest is a quarter full at the next turn. */
static void adapt_interval(struct session *session, uint64_t now)
{
	uint64_t passed = now - session->last, quarter = session->parts.config.ring_bytes / 4;
	uint64_t wanted = SESSION_TICK;

	if (session->last != 0 && session->fullest > 0 && passed >= INTERVAL_MIN)
		wanted = passed * quarter / session->fullest;
	else if (session->last != 0 && session->fullest > 0)
		return;
	if (wanted > session->interval * 2)
		wanted = session->interval * 2;
	if (wanted > SESSION_TICK)
		wanted = SESSION_TICK;
	session->interval = wanted > INTERVAL_MIN ? wanted : INTERVAL_MIN;
}

uint64_t session_turn(struct session *session)
{
	uint64_t now = session->parts.clock();
	bool soon;

	session->turn++;
	read_rings(session, now);
	adapt_interval(session, now);
	session->last = now;
	soon = read_streams(session, now);
	objects_turn(session->objects, now);
	segments_turn(session->segments, now);
	if (!stream_behind(session->stream)) {
		soon |= tracker_turn(session->tracker, now);
		samples_resolve(session->samples, session->turn, now);
	}
	return soon && session->interval > SESSION_SOON ? SESSION_SOON : session->interval;
}

bool session_waiting(const struct session *session)
{
	return samples_held(session->samples) > 0;
}

/* ---- end ---- */

static int find_sources(struct session *session)
{
	const struct sources_parts parts = {
		.profile = session->profile,
		.processes = tracker_processes(session->tracker),
		.objects = session->objects,
		.redact = &session->redact,
		.cache = session->cache,
		.debug_files = session->parts.debug_files,
		.clock = session->parts.clock,
	};

	return sources_collect(&parts, stream_first_seen(session->stream), &session->sources);
}

static int name(struct session *session, uint64_t patience)
{
	const struct message_config *config = &session->parts.config;
	const bool lines =
		!(config->flags & (OPTIONS_NO_INLINE | OPTIONS_WHY)) && !session_every(config);
	const struct naming_parts naming = {
		.profile = session->profile,
		.objects = session->objects,
		.samples = session->samples,
		.symbols = session->parts.symbols,
		.late_names = session->late_names,
		.redact = &session->redact,
		.cache = session->cache,
		.debug_files = session->parts.debug_files,
		.counts = &session->names,
		.inlines = lines ? &session->inlines : NULL,
		.clock = session->parts.clock,
		.patience = patience,
	};
	const uint64_t began = session->parts.clock(), inlines = session->inlines.time;
	int r = naming_run(&naming);

	session->naming_time += session->parts.clock() - began - (session->inlines.time - inlines);
	return r;
}

int session_finish(struct session *session)
{
	int r;

	debug_peer_allow(session->parts.debug_files, DEBUG_PEER_WAIT_MS);
	session_turn(session);
	tracker_finish(session->tracker);
	samples_finish(session->samples, session->last);
	r = name(session, 0);
	if (debug_peer_unasked(session->parts.debug_files))
		log_info("names: %" PRIu64 " debug files not asked for: others took long",
			 debug_peer_unasked(session->parts.debug_files));
	session->without_names += naming_without(session->profile);
	session->unnamed += naming_failed(session->profile);
	if (r == 0 && session->parts.config.flags & OPTIONS_WHY)
		r = find_sources(session);
	return r;
}

/* realtime = monotonic + this */
static uint64_t realtime_offset(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec - time_now();
}

static void describe(const struct message_sampling *sampling, struct profile_times *times)
{
	times->period = sampling->period ?: NS_PER_SECOND / sampling->frequency;
	times->event = event_counted(sampling->event, sampling->period);
}

static int render(const struct session *session, const struct profile *profile, uint64_t start,
		  uint64_t end, int fd)
{
	const struct message_config *config = &session->parts.config;
	struct profile_times times = {
		.start_monotonic_ns = start,
		.start_realtime_ns = start + realtime_offset(),
		.duration_ns = end - start,
	};
	const struct format_options options = {.by_thread = config->flags & OPTIONS_BY_THREAD};

	describe(&config->sampling, &times);
	if (config->flags & OPTIONS_WHY)
		return why_render(profile, &session->sources, &times, fd);
	return format_find(config->format)->render(profile, &times, &options, fd);
}

/* Without what only other windows have. */
static int render_window(const struct session *session, uint64_t end, int fd)
{
	struct profile *part;
	int r = profile_reachable(session->profile, &part);

	if (r < 0)
		return r;
	r = render(session, part, session->window, end, fd);
	profile_free(part);
	return r;
}

int session_render(const struct session *session, const struct message_stop *stop, int fd)
{
	const uint64_t end = stop->stopped > session->window ? stop->stopped : session->window;

	if (session_every(&session->parts.config))
		return render_window(session, end, fd);
	return render(session, session->profile, stop->started, stop->stopped, fd);
}

static int begin_profile(struct session *session)
{
	struct profile *profile = profile_new();
	struct object *object;
	size_t cursor = 0;

	if (!profile)
		return -ENOMEM;
	log_info("stream: names of %" PRIu32 " locations: forgotten",
		 profile_locations(session->profile));
	session->unnamed += naming_failed(session->profile);
	profile_free(session->profile);
	session->profile = profile;
	session->kept_bytes = session->names.bytes;
	samples_use(session->samples, profile);
	while ((object = objects_next(session->objects, &cursor)) != NULL)
		object->profile_id = 0;
	return 0;
}

int session_name_some(struct session *session)
{
	return name(session, WINDOW_PATIENCE_NS);
}

int session_render_window(struct session *session, int fd)
{
	const uint64_t end = session->parts.clock();
	int r = render_window(session, end, fd);

	if (r < 0)
		return r;
	session->without_names += naming_without(session->profile);
	session->window = end;
	debug_peer_allow(session->parts.debug_files, DEBUG_PEER_WINDOW_MS);
	return profile_locations(session->profile) > WINDOW_LOCATIONS_MAX ||
			       profile_strings(session->profile) > WINDOW_STRINGS_MAX ||
			       session->names.bytes - session->kept_bytes > WINDOW_NAME_BYTES_MAX
		       ? begin_profile(session)
		       : profile_forget_samples(session->profile);
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
	summary->limit[LIMIT_files] = files_put_off(session->files);
	summary->limit[LIMIT_descriptors] = counts.descriptors_closed;
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

	samples_counts(session->samples, &counts);
	summary->unkept = counts.failed;
	summary->filtered = counts.filtered;
	for (unsigned int i = 0; i < REASON_COUNT; i++)
		summary->reason[i] = counts.reason[i];
	for (uint32_t i = 0; i < session->parts.config.cpus; i++)
		summary->discarded += session->rings[i].discarded;
	summary->limit[LIMIT_held] = counts.held;
	summary->limit[LIMIT_early] = counts.early;
	summary->limit[LIMIT_kernel_stack] = counts.kernel_cut;
	summary->limit[LIMIT_kernel_ranges] = counts.kernel_unknown;
}

void session_summary(const struct session *session, struct message_summary *ret_summary)
{
	struct symbol_cache_counts cache;

	*ret_summary = (struct message_summary){.without_names = session->without_names};
	count_samples(session, ret_summary);
	count_objects(session, ret_summary);
	count_processes(session, ret_summary);
	symbol_cache_counts(session->cache, &cache);
	ret_summary->limit[LIMIT_symbols] = cache.refused;
	ret_summary->limit[LIMIT_malformed] = count_malformed(session);
	ret_summary->limit[LIMIT_lines] = session->inlines.left;
	ret_summary->limit[LIMIT_names] = session->unnamed;
	ret_summary->limit[LIMIT_times] = profile_moments_dropped(session->profile);
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
		.relists = tracker.relists,
		.names = session->names,
		.naming_time = session->naming_time,
		.inlines = session->inlines,
	};
	symbol_cache_counts(session->cache, &ret_totals->cache);
	tables_totals(session->tables, &ret_totals->table_bytes, &ret_totals->table_rows);
}

const struct profile *session_profile(const struct session *session)
{
	return session->profile;
}

struct tracker *session_tracker(struct session *session)
{
	return session->tracker;
}
