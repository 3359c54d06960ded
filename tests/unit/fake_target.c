/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fake_target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/abi.h"

static int ask(struct target *target, const struct target_request *request)
{
	struct fake_target *fake = (struct fake_target *)target;

	if (fake->count == FAKE_REQUESTS)
		return -EAGAIN;
	fake->requests[fake->count++] = *request;
	fake->asked[request->kind]++;
	return 0;
}

void fake_target_init(struct fake_target *fake)
{
	*fake = (struct fake_target){.target = {.ask = ask}};
}

int fake_file(const void *bytes, size_t size)
{
	int fd = memfd_create("fake", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
		abort();
	return fd;
}

void *fake_segment(void)
{
	void *memory = mmap(NULL, SEGMENT_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

static void answer_maps(struct fake_target *fake, const struct target_request *request,
			struct target_reply *reply)
{
	(void)request;
	if (fake->maps)
		reply->fd = fake_file(fake->maps, strlen(fake->maps));
	else
		reply->error = fake->maps_error ? fake->maps_error : -ESRCH;
}

static void answer_object(struct fake_target *fake, const struct target_request *request,
			  struct target_reply *reply)
{
	if (!fake->object || fake->object_error) {
		reply->error = fake->object_error ?: -ENOENT;
		return;
	}
	reply->identity = fake->identity;
	if (fake->identity.inode == 0)
		reply->identity.inode = request->start >> 12;
	if (request->want_fd && !fake->opened)
		reply->fd = open(fake->object, O_RDONLY | O_CLOEXEC);
}

static void answer_segment(struct fake_target *fake, const struct target_request *request,
			   struct target_reply *reply)
{
	(void)request;
	reply->error = fake->segment_error;
	if (reply->error < 0)
		return;
	reply->fd = memfd_create("segment", MFD_CLOEXEC);
	if (reply->fd < 0 || ftruncate(reply->fd, SEGMENT_BYTES) < 0)
		abort();
}

static void answer_grant(struct fake_target *fake, const struct target_request *request,
			 struct target_reply *reply)
{
	(void)request;
	reply->error = fake->grant_error;
}

static void answer_code(struct fake_target *fake, const struct target_request *request,
			struct target_reply *reply)
{
	(void)request;
	reply->error = fake->code_error;
	if (reply->error == 0 && !fake->code)
		reply->error = -ENOENT;
	if (reply->error == 0)
		reply->fd = open(fake->code, O_RDONLY | O_CLOEXEC);
}

static void answer_context(struct fake_target *fake, const struct target_request *request,
			   struct target_reply *reply)
{
	const void *bytes = request->start ? fake->context : fake->variables;
	const size_t size = request->start ? fake->context_size : fake->variables_size;

	reply->error = fake->context_error;
	if (reply->error == 0 && !bytes)
		reply->error = -EOPNOTSUPP;
	if (reply->error == 0)
		reply->fd = fake_file(bytes, size);
}

static void answer_cgroups(struct fake_target *fake, const struct target_request *request,
			   struct target_reply *reply)
{
	const char *text = fake->cgroups;

	(void)request;
	if (!text)
		text = "0::/\n";
	reply->fd = fake_file(text, strlen(text));
}

void fake_target_answer(struct fake_target *fake)
{
	static void (*const answers[TARGET_KIND_COUNT])(
		struct fake_target *, const struct target_request *, struct target_reply *) = {
		[TARGET_MAPS] = answer_maps,	   [TARGET_OBJECT] = answer_object,
		[TARGET_SEGMENT] = answer_segment, [TARGET_GRANT] = answer_grant,
		[TARGET_CODE] = answer_code,	   [TARGET_CONTEXT] = answer_context,
		[TARGET_CGROUPS] = answer_cgroups,
	};

	while (fake->count > 0) {
		const struct target_request request = fake->requests[0];
		struct target_reply reply = {.fd = -1};

		fake->count--;
		memmove(fake->requests, fake->requests + 1, fake->count * sizeof(request));
		answers[request.kind](fake, &request, &reply);
		request.done(request.context, request.key, &reply);
		if (reply.fd >= 0)
			close(reply.fd);
	}
}
