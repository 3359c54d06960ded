/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhole-broker opens for the worker what the worker may not open itself. The broker is the one
 * process that keeps capabilities while sampling goes on. No process waits for the broker: a call
 * that hangs here only delays the worker's requests. When a call hangs, the loader soon starts
 * another broker.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "ipc/channel.h"
#include "ipc/guard.h"
#include "ipc/log.h"
#include "ipc/time.h"
#include "loader/broker/answers.h"
#include "loader/broker/context.h"
#include "loader/broker/grant.h"
#include "loader/broker/limits.h"
#include "loader/broker/mounts.h"
#include "policy/policy.h"

#define START_MS INT_MAX /* loading may take long; the end of the loader ends the wait */

struct broker {
	struct channel loader, worker, audit;
	struct segments segments;
	struct limits limits;
	struct mounts mounts;
	struct granter granter;
	struct contexts contexts;
	bool no_code_files; /* by a rule of the policy */
	int followed;	    /* map of struct generation by pid; read-only */
};

/* Gives what an answer returned: a descriptor or a negative errno. */
static int give(int fd, int *ret_fd)
{
	*ret_fd = fd;
	if (fd < 0)
		return fd;
	return 0;
}

static int on_maps(struct broker *broker, const struct message *request,
		   struct message_object_reply *ret_reply, int *ret_fd)
{
	(void)ret_reply;
	return give(answer_maps(broker->followed, &request->MAPS), ret_fd);
}

static int on_cgroups(struct broker *broker, const struct message *request,
		      struct message_object_reply *ret_reply, int *ret_fd)
{
	(void)ret_reply;
	return give(answer_cgroups(broker->followed, &request->CGROUPS), ret_fd);
}

static struct answerer answerer_of(struct broker *broker)
{
	return (struct answerer){broker->followed, &broker->limits, &broker->mounts,
				 broker->no_code_files};
}

static int on_object(struct broker *broker, const struct message *request,
		     struct message_object_reply *ret_reply, int *ret_fd)
{
	const struct answerer answerer = answerer_of(broker);

	return answer_object(&answerer, &request->OBJECT, ret_reply, ret_fd);
}

static int on_segment(struct broker *broker, const struct message *request,
		      struct message_object_reply *ret_reply, int *ret_fd)
{
	int r;

	(void)ret_reply;
	*ret_fd = answer_segment(&broker->segments, &request->SEGMENT);
	if (*ret_fd < 0)
		return *ret_fd;
	/* the loader counts them, because this broker may be replaced */
	r = channel_send(&broker->loader, MESSAGE_SEGMENT_GIVEN, &request->SEGMENT,
			 sizeof(request->SEGMENT), -1);
	if (r)
		close_fd(ret_fd); /* nobody gets a segment that the loader does not know */
	return r;
}

static int on_grant(struct broker *broker, const struct message *request,
		    struct message_object_reply *ret_reply, int *ret_fd)
{
	(void)ret_fd;
	return grant_check(&broker->granter, &request->GRANT, ret_reply);
}

static int on_code_file(struct broker *broker, const struct message *request,
			struct message_object_reply *ret_reply, int *ret_fd)
{
	const struct answerer answerer = answerer_of(broker);

	return answer_code_file(&answerer, &request->CODE_FILE, ret_reply, ret_fd);
}

static int on_context(struct broker *broker, const struct message *request,
		      struct message_object_reply *ret_reply, int *ret_fd)
{
	(void)ret_reply;
	return give(context_answer(&broker->contexts, &request->CONTEXT), ret_fd);
}

static int commit_grant(struct broker *broker)
{
	return grant_commit(&broker->granter);
}

static int commit_context(struct broker *broker)
{
	context_commit(&broker->contexts);
	return 0;
}

#define PID_OF(request) offsetof(struct message, request.pid)

/* Requests of the worker. */
static const struct service {
	enum message_type type;
	/* Returns 0 or a negative errno; sets the identity and the descriptor that it has. */
	int (*answer)(struct broker *broker, const struct message *request,
		      struct message_object_reply *ret_reply, int *ret_fd);
	size_t pid_offset;  /* of the pid, for the audit stream; 0: the request names no process */
	size_t reply_bytes; /* sent, of a struct message_object_reply */
	/* Gives more than a descriptor, once the audit stream has the request. NULL: no more. */
	int (*commit)(struct broker *broker);
} services[] = {
	{MESSAGE_MAPS, on_maps, PID_OF(MAPS), sizeof(struct message_reply), NULL},
	{MESSAGE_CGROUPS, on_cgroups, PID_OF(CGROUPS), sizeof(struct message_reply), NULL},
	{MESSAGE_OBJECT, on_object, PID_OF(OBJECT), sizeof(struct message_object_reply), NULL},
	{MESSAGE_SEGMENT, on_segment, 0, sizeof(struct message_reply), NULL},
	{MESSAGE_GRANT, on_grant, PID_OF(GRANT), sizeof(struct message_reply), commit_grant},
	{MESSAGE_CODE_FILE, on_code_file, PID_OF(CODE_FILE), sizeof(struct message_reply), NULL},
	{MESSAGE_CONTEXT, on_context, PID_OF(CONTEXT), sizeof(struct message_reply),
	 commit_context},
};

_Static_assert(offsetof(struct message_object_reply, error) == 0 &&
		       offsetof(struct message_reply, error) == 0,
	       "the start of an object's reply is a plain reply");

/* Returns NULL for a message that asks nothing. */
static const struct service *find_service(unsigned int type)
{
	for (size_t i = 0; i < sizeof(services) / sizeof(*services); i++)
		if (services[i].type == type)
			return &services[i];
	return NULL;
}

static uint32_t pid_of(const struct service *service, const struct message *request)
{
	uint32_t pid = 0;

	if (service->pid_offset)
		memcpy(&pid, (const char *)request + service->pid_offset, sizeof(pid));
	return pid;
}

/* Writes to the audit stream, if there is one, and waits as long as keyhole-audit does not read. */
static int write_audit(struct broker *broker, const struct message_audit *audit)
{
	int r;

	if (broker->audit.fd < 0)
		return 0;
	do
		r = channel_send(&broker->audit, MESSAGE_AUDIT, audit, sizeof(*audit), -1);
	while (r == -EAGAIN);
	return r;
}

/* Gives the worker nothing that is not in the audit stream. */
static int on_request(struct broker *broker, const struct message *request)
{
	const struct service *service = find_service(request->head.type);
	struct message_audit audit = {.request = request->head.type};
	guard_fd int fd = -1;
	int error, r;

	if (!service)
		return -EPROTO;
	audit.pid = pid_of(service, request);
	error = limits_request(&broker->limits, time_now());
	if (error == 0)
		error = service->answer(broker, request, &audit.answer, &fd);
	audit.answer.error = error;
	audit.granted = fd >= 0 || (error == 0 && service->commit);
	r = write_audit(broker, &audit);
	if (r)
		return r;
	if (error == 0 && service->commit)
		error = service->commit(broker);
	if (error)
		audit.answer = (struct message_object_reply){.error = error};
	return channel_reply(&broker->worker, request, &audit.answer, service->reply_bytes, fd);
}

/* Takes the three maps. Returns 0 or a negative errno. */
static int take_maps(struct broker *broker)
{
	struct message message;
	int r = channel_expect(&broker->loader, MESSAGE_SEGMENT_MAP, START_MS, &message);

	if (r)
		return r;
	r = segments_init(&broker->segments, message.fd, message.SEGMENT_MAP.index);
	if (r)
		return r;
	r = limits_init(&broker->limits, message.SEGMENT_MAP.requests, time_now());
	if (r)
		return r;
	r = channel_expect(&broker->loader, MESSAGE_PROCESS_MAP, START_MS, &message);
	if (r)
		return r;
	broker->followed = message.fd;
	r = channel_expect(&broker->loader, MESSAGE_GRANT_MAP, START_MS, &message);
	if (r)
		return r;
	broker->granter.table = (struct grant_table){message.fd, broker->followed, 0};
	broker->granter.mounts = &broker->mounts;
	broker->contexts.granter = &broker->granter;
	broker->contexts.mounts = &broker->mounts;
	return 0;
}

static int take_rule(struct broker *broker, const struct message_grant_rule *rule)
{
	if (rule->key[0] == GRANT_RULE_VARIABLE)
		return environment_add_name(&broker->contexts.variables, rule->name);
	if (rule->key[0] == GRANT_RULE_NO_CODE_FILES)
		broker->no_code_files = true;
	else if (rule->key[0] == GRANT_RULE_NO_CONTEXTS)
		broker->contexts.no_contexts = true;
	else
		return grant_take_rule(&broker->granter, rule);
	return 0;
}

/* Takes the rules. Returns 1 with the next other message, or a negative errno. */
static int take_rules(struct broker *broker, struct message *ret_message)
{
	int r = channel_wait(&broker->loader, START_MS, ret_message);

	while (r == 1 && ret_message->head.type == MESSAGE_GRANT_RULE) {
		r = take_rule(broker, &ret_message->GRANT_RULE);
		if (r == 0)
			r = channel_wait(&broker->loader, START_MS, ret_message);
	}
	return r;
}

/* Takes the rules, the channel to keyhole-audit, if there is one, and that to the worker. */
static int take_peers(struct broker *broker)
{
	struct message peer;
	int r = take_rules(broker, &peer);

	if (r == 1 && peer.head.type == MESSAGE_AUDIT_PEER) {
		channel_init(&broker->audit, peer.fd, PARTY_BROKER, PARTY_AUDITOR);
		r = channel_wait(&broker->loader, START_MS, &peer);
	}
	if (r < 0)
		return r;
	if (peer.head.type != MESSAGE_REQUEST_PEER)
		return -EPROTO;
	channel_init(&broker->worker, peer.fd, PARTY_BROKER, PARTY_WORKER);
	return 0;
}

static int start(struct broker *broker)
{
	struct policy_layers layers;
	int r;

	broker->audit.fd = -1;
	channel_init(&broker->loader, CHANNEL_FD, PARTY_BROKER, PARTY_LOADER);
	log_init(message_party_name(PARTY_BROKER), LOG_LEVEL_INFO);
	channel_carry_log(&broker->loader);
	r = mounts_init(&broker->mounts);
	policy_confine(ROLE_BROKER, &layers);
	if (r)
		return r;
	r = channel_send_ready(&broker->loader, layers.lacking, layers.proven);
	if (r)
		return r;
	r = take_maps(broker);
	if (r)
		return r;
	r = take_peers(broker);
	if (r)
		return r;
	broker->loader.phase = PHASE_RUN;
	broker->worker.phase = PHASE_RUN;
	return 0;
}

/* Returns 0, or -EPROTO for a message: the loader has none for the broker in this phase. */
static int receive_from_loader(struct broker *broker)
{
	struct message message;
	int r = channel_receive(&broker->loader, &message);

	if (r < 1)
		return r;
	message_release(&message);
	return -EPROTO;
}

/*
 * Serves the worker until the worker or the loader is gone (-EPIPE). A request that came before the
 * loader went is served as well: the worker counts it, and the audit stream holds it.
 */
static int serve(struct broker *broker)
{
	struct pollfd fds[] = {{.fd = broker->worker.fd, .events = POLLIN},
			       {.fd = broker->loader.fd, .events = POLLIN}};
	struct message message;
	int r = 0;

	while (r == 0) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		r = channel_receive(&broker->worker, &message);
		if (r == 1)
			r = on_request(broker, &message);
		if (r == 0)
			r = receive_from_loader(broker);
	}
	return r;
}

int main(void)
{
	static struct broker broker; /* zero */
	int r = start(&broker);

	if (r == 0)
		r = serve(&broker);
	if (r >= 0 || r == -EPIPE)
		return 0;
	log_error("broker: %s", strerror(-r));
	return 1;
}
