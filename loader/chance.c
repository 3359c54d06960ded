/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/chance.h"

#include <stdlib.h>

#include "ipc/messages.h"
#include "ipc/time.h"

bool chance_turn(struct chance *chance, const struct message_chance *given, uint64_t now)
{
	if (given->threshold == 0) {
		chance->until = UINT64_MAX;
		return false;
	}
	if (now < chance->until)
		return false;
	chance->until = now + given->interval * NS_PER_SECOND;
	chance->resting = arc4random_uniform(100) >= given->threshold;
	return true;
}
