/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/roles.h"

#include <stddef.h>

const struct role *policy_role(enum policy_role role)
{
	if ((unsigned int)role >= ROLE_ALL)
		return NULL;
	return &role_table[role];
}

uint32_t policy_layers_of(enum policy_role role)
{
	const struct role *data = policy_role(role);

	if (!data)
		return 0;
	return data->layers;
}
