/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/equip.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "generated/version.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/messages.h"
#include "loader/failed.h"
#include "loader/link.h"
#include "loader/recording.h"
#include "loader/status.h"

#define CHILD_START_MS 5000
#define CHILD_END_MS   500 /* from the end of a child to its spawner's word */

/* That a broker may answer at once which is not the worker's first one. */
#define REQUESTS_LATER 1000

/* ---- who is ready -------------------------------------------------------------------------- */

/* Explains with the negative errno r that the child did not get ready. */
static enum equip_result report_absent(const struct child *child, int r)
{
	failed("start", message_party_name(child->channel.peer), r);
	if (r == -EPROTO)
		return EQUIP_REFUSED;
	return EQUIP_ABSENT;
}

/*
 * Proves the layers of a spawner and its child from outside, and adds what both saw themselves. The
 * spawner's own word alone excuses the spawner: the child's word comes from a later process. A
 * child that has ended shows no layers in /proc.
 */
static enum equip_result check_child(struct recording *rec, struct child *child, pid_t pid,
				     const struct message_ready *ready)
{
	const struct spawner *spawner = &child->spawner;
	const enum policy_role role = spawner->role;
	const uint32_t lacking = spawner->layers.lacking | ready->lacking;
	const uint32_t proven =
		(spawner->layers.proven | ready->proven) & ~policy_verify(role, pid, 1);
	const uint32_t missing = policy_layers_of(role) & ~proven;

	if (missing & ~lacking)
		child->ended = monitor_await_end(&rec->monitor, child, CHILD_END_MS) == 0;
	if (child->ended)
		return report_absent(child, -EPIPE);
	if (recording_check_layers(rec, PARTY_SPAWNER, spawner->pid,
				   policy_verify(role, spawner->pid, 0),
				   spawner->layers.lacking) != EXIT_DONE)
		return EQUIP_REFUSED;
	if (recording_check_layers(rec, child->channel.peer, pid, missing, lacking) != EXIT_DONE)
		return EQUIP_REFUSED;
	return EQUIP_READY;
}

/* Returns why the child is not the one that should run, or NULL. */
static const char *find_stranger(const struct child *child, const struct message_ready *ready)
{
	if (ready->role != (uint32_t)child->channel.peer)
		return "is of another role";
	if (strncmp(ready->build, KEYHOLE_VERSION, sizeof(ready->build)))
		return "of another build; install all programs together";
	return NULL;
}

enum equip_result equip_expect_ready(struct recording *rec, struct child *child)
{
	const char *reason;
	pid_t pid = spawner_started(&child->spawner);
	struct message message;
	int r;

	if (pid < 0)
		return report_absent(child, pid);
	r = channel_expect(&child->channel, MESSAGE_READY, CHILD_START_MS, &message);
	child->ended = r == -EPIPE;
	if (r < 0)
		return report_absent(child, r);
	reason = find_stranger(child, &message.READY);
	if (reason) {
		log_error("start: %s: %s", message_party_name(child->channel.peer), reason);
		return EQUIP_REFUSED;
	}
	return check_child(rec, child, pid, &message.READY);
}

enum exit_status equip_expect_all(struct recording *rec)
{
	for (int role = ROLE_WORKER; role < ROLE_SUPERVISED; role++)
		if (equip_expect_ready(rec, &rec->monitor.children[role]) != EQUIP_READY)
			return EXIT_FAILED;
	return EXIT_DONE;
}

/* ---- what each is given -------------------------------------------------------------------- */

static int give(struct child *worker, enum descriptor_kind kind, uint32_t index, int fd)
{
	struct message_descriptor descriptor = {.kind = kind, .index = index};

	return channel_send(&worker->channel, MESSAGE_DESCRIPTOR, &descriptor, sizeof(descriptor),
			    fd);
}

/* Names the machine, unless the policy hides processes: that policy hides the machine as well. */
static void tell_host(const struct recording *rec, char host[static CONFIG_HOST_BYTES])
{
	if (rec->rules.said.names[NAMES_COMM] == NAMES_KEEP)
		strncpy(host, rec->machine.nodename, CONFIG_HOST_BYTES - 1);
}

static int send_config(const struct recording *rec, struct child *worker)
{
	const struct options *options = rec->options;
	struct message_config config = {
		.sampling = options->given.sampling,
		.epoch = rec->epoch,
		.off_cpu_min = options->given.off_cpu_min,
		.cpus = rec->programs.cpus,
		.ring_bytes = rec->programs.ring_bytes,
		.sideband_bytes = EVENTS_SIDEBAND_BYTES,
		.segments = PROGRAMS_SEGMENTS,
		.flags = options->given.flags,
		.format = options->given.format,
		.every = options->given.every,
		.no_energy = rec->zones.error,
		.top = options->given.top,
	};

	memcpy(config.names, rec->rules.said.names, sizeof(config.names));
	if (options->comm)
		strncpy(config.comm, options->comm, sizeof(config.comm) - 1);
	tell_host(rec, config.host);
	return channel_send(&worker->channel, MESSAGE_CONFIG, &config, sizeof(config), -1);
}

static int give_maps(const struct recording *rec, struct child *worker)
{
	for (uint32_t kind = DESCRIPTOR_RINGS; kind <= DESCRIPTOR_EVENTS; kind++) {
		int fd = rec->programs.maps[kind];
		int r = give(worker, (enum descriptor_kind)kind, 0, fd);

		if (r)
			return r;
	}
	for (uint32_t i = 0; i < PROGRAMS_SEGMENTS; i++) {
		int r = give(worker, DESCRIPTOR_SEGMENT, i, rec->programs.segments[i]);

		if (r)
			return r;
	}
	return 0;
}

static int give_accounts(const struct accounts *accounts, struct child *worker)
{
	int r;

	if (!accounts->skeleton)
		return 0;
	r = give(worker, DESCRIPTOR_ACCOUNTS, 0, accounts->places);
	if (r)
		return r;
	return give(worker, DESCRIPTOR_ACCOUNT_CPUS, 0, accounts->cpus);
}

/* The order is that of energy_add() in the worker. */
static int give_zones(const struct zones *zones, struct child *worker)
{
	int r = 0;

	for (uint32_t i = 0; i < zones->count; i++)
		for (uint32_t file = 0; file < ZONE_FILES && r == 0; file++)
			r = give(worker, DESCRIPTOR_ZONE, ZONE_INDEX(zones->zone[i].number, file),
				 zones->zone[i].files[file]);
	return r;
}

static int give_sideband(const struct events *events, struct child *worker)
{
	for (uint32_t cpu = 0; cpu < events->cpus; cpu++) {
		int r = 0;

		if (events->sideband[cpu] >= 0)
			r = give(worker, DESCRIPTOR_SIDEBAND, cpu, events->sideband[cpu]);
		if (r)
			return r;
	}
	return 0;
}

static int give_descriptors(const struct recording *rec, struct child *worker)
{
	const int resource = rec->options->export.parts[DESTINATION_RESOURCE];
	int r = give(worker, DESCRIPTOR_KERNEL_SYMBOLS, 0, rec->ksyms.fd);

	if (r)
		return r;
	r = give_maps(rec, worker);
	if (r)
		return r;
	r = give_accounts(&rec->programs.accounts, worker);
	if (r)
		return r;
	r = give_zones(&rec->zones, worker);
	if (r)
		return r;
	if (rec->spill >= 0)
		r = give(worker, DESCRIPTOR_SPILL, 0, rec->spill);
	if (r)
		return r;
	if (resource >= 0)
		r = give(worker, DESCRIPTOR_RESOURCE, 0, resource);
	if (r)
		return r;
	return give_sideband(&rec->events, worker);
}

/* Before STOP an exporter takes the windows of a stream, and nothing else. */
static enum message_phase exporter_phase(const struct recording *rec)
{
	if (rec->monitor.goal == GOAL_WRITTEN)
		return PHASE_FINISH;
	if (rec->options->given.every)
		return PHASE_RUN;
	return PHASE_START;
}

/*
 * Lets the exporter see how much CPU time was used. Where some processes are chosen, or events
 * count, the CPU time of the machine tells nothing.
 */
static int give_cpu_time(const struct options *options, struct channel *exporter)
{
	const struct message_sampling *sampling = &options->given.sampling;
	guard_fd int fd = -1;

	if (options->given.flags & OPTIONS_FEW || sampling->period)
		return 0;
	fd = openat(policy_proc(), "stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0; /* then that number is not told */
	return channel_send(exporter, MESSAGE_CPU_TIME, sampling, sizeof(*sampling), fd);
}

/* Tells an agent's exporter what it cannot count itself. */
static int equip_figures(struct recording *rec, struct channel *exporter)
{
	struct message_counters counters = {.begun = rec->begun, .cpus = rec->programs.cpus};
	int r;

	if (!(rec->options->given.flags & OPTIONS_METRICS))
		return 0;
	tell_host(rec, counters.host);
	r = export_counters(&rec->options->export, &counters, rec->programs.counts[COUNTS_COUNTERS],
			    exporter);
	if (r)
		return r;
	r = give_cpu_time(rec->options, exporter);
	if (r)
		return r;
	return status_send(rec);
}

/* Gives an agent's exporter the way to a server, or to keyhole-output, or with a spool to both. */
static int equip_export(struct recording *rec, struct channel *exporter)
{
	const struct options *options = rec->options;
	const bool delivers = export_has_server(&options->export);
	int r = 0;

	if (!(options->given.flags & OPTIONS_AGENT))
		return 0;
	if (delivers)
		r = export_equip(&options->export, &rec->monitor.connector, exporter);
	if (r || (delivers && !options->given.spool))
		return r;
	return export_keep(&options->export, &options->given, &rec->output.channel, exporter);
}

int equip_exporter(struct recording *rec)
{
	static const struct message_descriptor named = {.kind = DESCRIPTOR_EXPORTER};
	static const struct link link = {MESSAGE_PROFILE_PEER, MESSAGE_DESCRIPTOR, &named,
					 sizeof(named)};
	struct channel *worker = &rec->monitor.children[ROLE_WORKER].channel;
	struct channel *exporter = &rec->monitor.children[ROLE_EXPORTER].channel;
	const struct message_output output = {.phase = exporter_phase(rec)};
	int r;

	if (exporter->phase != PHASE_START) /* it has outlived a worker */
		return link_make(&link, exporter, worker);
	r = channel_send(exporter, MESSAGE_OUTPUT, &output, sizeof(output), rec->output.fd);
	if (r)
		return r;
	r = equip_export(rec, exporter);
	if (r)
		return r;
	r = equip_figures(rec, exporter);
	if (r)
		return r;
	return link_make(&link, exporter, worker);
}

/* Gives the broker its maps. A worker has no more segments by another broker than by one. */
static int give_broker_maps(struct recording *rec, struct channel *broker, enum broker_lane lane)
{
	struct message_segments segments = {SEGMENT_MAX, REQUESTS_LATER};
	int r;

	if (lane != LANE_PENAL)
		segments.index = rec->monitor.segments;
	if (rec->monitor.brokers == 0)
		segments.requests = UINT32_MAX;
	r = channel_send(broker, MESSAGE_SEGMENT_MAP, &segments, sizeof(segments),
			 rec->programs.segment_map);
	if (r)
		return r;
	r = channel_send_bare(broker, MESSAGE_PROCESS_MAP, rec->programs.process_map);
	if (r)
		return r;
	return channel_send_bare(broker, MESSAGE_GRANT_MAP, rec->programs.grant_map);
}

/* Tells the broker whose memory is not read, and which further files are runtimes. */
static int give_broker_rules(const struct rules *rules, struct channel *broker)
{
	int r = 0;

	for (uint32_t i = 0; i < rules->memory_count && r == 0; i++)
		r = channel_send(broker, MESSAGE_GRANT_RULE, &rules->memory[i],
				 sizeof(rules->memory[i]), -1);
	return r;
}

int equip_broker(struct recording *rec, enum broker_lane lane)
{
	struct child *child = &rec->monitor.children[monitor_child_of(lane)];
	const struct message_descriptor audited = {DESCRIPTOR_BROKER, child->number};
	const struct message_descriptor asked = {DESCRIPTOR_BROKER, lane};
	const struct link audit_link = {MESSAGE_AUDIT_PEER, MESSAGE_AUDIT_BROKER, &audited,
					sizeof(audited)};
	const struct link worker_link = {MESSAGE_REQUEST_PEER, MESSAGE_DESCRIPTOR, &asked,
					 sizeof(asked)};
	struct channel *worker = &rec->monitor.children[ROLE_WORKER].channel;
	const uint32_t sent = worker->sent;
	int r = give_broker_maps(rec, &child->channel, lane);

	if (r)
		return r;
	r = give_broker_rules(&rec->rules, &child->channel);
	if (r)
		return r;
	if (rec->monitor.audit.fd >= 0)
		r = link_make(&audit_link, &child->channel, &rec->monitor.audit);
	if (r)
		return r;
	r = link_make(&worker_link, &child->channel, worker);
	/* a broker counts from the message to the worker on, whatever becomes of the broker */
	rec->monitor.brokers += worker->sent - sent;
	return r;
}

/* Equips the worker, then each process that has a channel to the worker. */
static int equip_each(struct recording *rec)
{
	static const struct message_descriptor named = {.kind = DESCRIPTOR_DEBUG_FILES};
	static const struct link debug_link = {MESSAGE_DEBUG_PEER, MESSAGE_DESCRIPTOR, &named,
					       sizeof(named)};
	struct child *worker = &rec->monitor.children[ROLE_WORKER];
	int r = send_config(rec, worker);

	if (r)
		return r;
	r = give_descriptors(rec, worker);
	if (r)
		return r;
	r = equip_exporter(rec);
	if (r)
		return r;
	rec->monitor.brokers = 0;
	rec->monitor.segments = rec->monitor.given = PROGRAMS_SEGMENTS;
	r = equip_broker(rec, LANE_ORDINARY);
	if (r)
		return r;
	return link_make(&debug_link, &rec->output.channel, &worker->channel);
}

static int start_worker(struct child *worker)
{
	struct message message;
	int r = channel_send_bare(&worker->channel, MESSAGE_START, -1);

	if (r == 0)
		r = channel_expect(&worker->channel, MESSAGE_RUNNING, CHILD_START_MS, &message);
	worker->ended = r == -EPIPE;
	return r;
}

enum exit_status equip_children(struct recording *rec)
{
	int r = equip_each(rec);

	if (r == 0)
		r = start_worker(&rec->monitor.children[ROLE_WORKER]);
	recording_enter_phase(rec, PHASE_RUN);
	if (r)
		return failed("start", "equipping the children", r);
	return EXIT_DONE;
}
