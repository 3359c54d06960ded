/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/e2e/doomed/doomed.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ipc/channel.h"
#include "ipc/time.h"
#include "policy/policy.h"

/* Not const: the compiler must believe what the file says. */
volatile struct doom doom = {"doomed-at-moment", MOMENT_NEVER, 0, 0, 0, ""};

static uint64_t epoch;

void doom_epoch(uint64_t number)
{
	epoch = number;
}

int doom_is(enum moment moment)
{
	return doom.moment == moment && epoch < doom.epochs && time_now() >= doom.from;
}

void doom_at(enum moment moment)
{
	if (!doom_is(moment))
		return;
	if (doom.deed == DEED_EXIT)
		_exit(3);
	while (doom.deed == DEED_HANG)
		poll(NULL, 0, 1000);
	if (doom.deed == DEED_CALL)
		syscall(SYS_getppid);
	*(volatile int *)(doom.from & 0) = 0;
}

void __real_policy_confine(enum policy_role role, struct policy_layers *ret_layers);
void __wrap_policy_confine(enum policy_role role, struct policy_layers *ret_layers);
void __wrap_policy_confine(enum policy_role role, struct policy_layers *ret_layers)
{
	__real_policy_confine(role, ret_layers);
	doom_at(MOMENT_FIRST);
}

int __real_channel_send_ready(struct channel *channel, uint32_t lacking, uint32_t proven);
int __wrap_channel_send_ready(struct channel *channel, uint32_t lacking, uint32_t proven);
int __wrap_channel_send_ready(struct channel *channel, uint32_t lacking, uint32_t proven)
{
	int r = __real_channel_send_ready(channel, lacking, proven);

	doom_at(MOMENT_READY);
	return r;
}
