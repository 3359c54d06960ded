/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/delivery.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory_file.h"
#include "ipc/time.h"
#include "worker/files.h"
#include "worker/session.h"

#define NAMES_GAP   (20 * NS_PER_MS) /* left to turns while a window waits for names */
#define NAMES_TRIES 8		     /* then an address without a name keeps its offset */

void delivery_init(struct delivery *delivery, struct session *session, const struct files *files)
{
	*delivery = (struct delivery){.exporter.fd = -1, .session = session, .files = files};
}

/* ---- files ---- */

/* Sends so many bytes of a file. Returns 0 or a negative errno; -EPIPE: there is no exporter. */
static int send_file(struct delivery *delivery, enum message_type type, int fd, uint64_t bytes)
{
	const struct message_profile message = {.bytes = bytes};
	int r;

	if (type == MESSAGE_WINDOW && bytes == 0) /* the window has nothing to say */
		return 0;
	r = channel_send(&delivery->exporter, type, &message, sizeof(message), fd);
	delivery->is_writing = r == 0 && type == MESSAGE_WINDOW;
	return r;
}

/* Takes the result of send_file(). Without an exporter the file waits for the next one. */
static int may_wait(int r)
{
	if (r == -EPIPE)
		return 0;
	return r;
}

/* Takes the result of a write into a file that does not grow. */
static int rendered(int r, int fd, uint64_t *ret_bytes)
{
	off_t bytes;

	if (r == -EPERM)
		return -EFBIG;
	if (r < 0)
		return r;
	bytes = lseek(fd, 0, SEEK_CUR);
	if (bytes < 0)
		return -errno;
	*ret_bytes = (uint64_t)bytes;
	return 0;
}

/* ---- the profile ---- */

int delivery_connect(struct delivery *delivery, int fd)
{
	channel_release(&delivery->exporter);
	channel_init(&delivery->exporter, fd, PARTY_WORKER, PARTY_EXPORTER);
	delivery->exporter.phase = PHASE_RUN;
	delivery->is_writing = false; /* a new exporter says nothing of an earlier one's window */
	if (!delivery->is_made)
		return 0;
	delivery->exporter.phase = PHASE_FINISH;
	return may_wait(send_file(delivery, MESSAGE_PROFILE, delivery->files->profile,
				  delivery->profile_bytes));
}

/* Writes the profile as far as it is. Returns 0 or a negative errno; -EFBIG: it is too large. */
static int write_profile(const struct delivery *delivery, const struct message_stop *stop, int fd,
			 uint64_t *ret_bytes)
{
	int r = memory_file_rewind(fd);

	if (r < 0)
		return r;
	r = product_render(session_product(delivery->session), stop, fd);
	return rendered(r, fd, ret_bytes);
}

int delivery_draft(struct delivery *delivery, const struct message_stop *stop)
{
	const int fd = delivery->files->drafts[delivery->drafts % FILES_DRAFTS];
	int r = product_describe(session_product(delivery->session));
	uint64_t bytes = 0;

	if (r < 0)
		return r;
	r = write_profile(delivery, stop, fd, &bytes);
	if (r < 0)
		return r;
	delivery->drafts++;
	return send_file(delivery, MESSAGE_DRAFT, fd, bytes);
}

int delivery_profile(struct delivery *delivery, const struct message_stop *stop)
{
	const int fd = delivery->files->profile;
	int r = write_profile(delivery, stop, fd, &delivery->profile_bytes);

	if (r < 0)
		return r;
	delivery->is_made = true;
	return may_wait(send_file(delivery, MESSAGE_PROFILE, fd, delivery->profile_bytes));
}

/* ---- windows ---- */

static int send_window(struct delivery *delivery)
{
	const int fd = delivery->files->window;
	uint64_t bytes = 0;
	int r = memory_file_rewind(fd);

	if (r < 0)
		return r;
	r = session_render_window(delivery->session, fd);
	r = rendered(r, fd, &bytes);
	if (r < 0)
		return r;
	delivery->sent++;
	return may_wait(send_file(delivery, MESSAGE_WINDOW, fd, bytes));
}

static uint64_t random_delay(const struct delivery *delivery)
{
	if (delivery->spread == 0)
		return 0;
	return arc4random_uniform((uint32_t)(delivery->spread / NS_PER_MS) + 1) * NS_PER_MS;
}

/*
 * Windows end at multiples of a time, and a random delay later, so that they do not drift. A timer
 * may be a bit early.
 */
static uint64_t time_to_next(struct delivery *delivery)
{
	const uint64_t now = time_now();

	while (delivery->due <= now + delivery->every / 2)
		delivery->due += delivery->every;
	delivery->tries = 0;
	return delivery->due - now + random_delay(delivery);
}

uint64_t delivery_start_windows(struct delivery *delivery, uint64_t every, uint64_t spread)
{
	delivery->every = every;
	delivery->spread = spread;
	delivery->due = time_now();
	return time_to_next(delivery);
}

/* Returns 1 when the exporter has written everything; 0: not yet, or the exporter is gone. */
static int is_written(struct delivery *delivery)
{
	struct message message;
	int r = channel_receive(&delivery->exporter, &message);

	if (r < 0 && r != -EPIPE)
		return r;
	if (r == 1)
		delivery->is_writing = false;
	return !delivery->is_writing;
}

int delivery_window(struct delivery *delivery, uint64_t *ret_wait)
{
	int r = is_written(delivery);

	if (r < 0)
		return r;
	if (r == 0) {
		delivery->joined++;
		*ret_wait = time_to_next(delivery);
		return 0;
	}
	r = product_name_some(session_product(delivery->session));
	if (r > 0 && ++delivery->tries < NAMES_TRIES) {
		*ret_wait = NAMES_GAP;
		return 0;
	}
	if (r >= 0)
		r = send_window(delivery);
	*ret_wait = time_to_next(delivery);
	return r;
}
