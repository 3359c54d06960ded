/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "policy/policy_impl.h"

static const char *const names[LAYER_COUNT] = {
#define L(name, help) #name,
#include "policy/layers.def"
#undef L
};

const char *policy_layer_name(unsigned int layer)
{
	return layer < LAYER_COUNT ? names[layer] : NULL;
}

uint32_t policy_layers_of(enum policy_role role)
{
	const struct role *data = policy_role(role);
	uint32_t mask = LAYER_BIT(ids) | LAYER_BIT(capabilities) | LAYER_BIT(no_new_privs) |
			LAYER_BIT(limits) | LAYER_BIT(dumpable) | LAYER_BIT(seccomp);

	if (!data)
		return 0;
	mask |= data->namespaces ? LAYER_BIT(namespaces) : 0;
	mask |= data->pid_namespace ? LAYER_BIT(pid) : 0;
	mask |= data->root != ROOT_HOST ? LAYER_BIT(root) : 0;
	mask |= data->landlock != LANDLOCK_NONE ? LAYER_BIT(landlock) : 0;
	return mask;
}
