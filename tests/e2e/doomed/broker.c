/* SPDX-License-Identifier: Apache-2.0 */
/* A broker that ends while it waits. */
#include <poll.h>

#include "tests/e2e/doomed/doomed.h"

#define TURN_MS 50

int __real_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	int r;

	do {
		doom_at(MOMENT_RUN);
		r = __real_poll(fds, count, timeout < 0 ? TURN_MS : timeout);
	} while (r == 0 && timeout < 0);
	return r;
}
