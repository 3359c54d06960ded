/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

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

static uint32_t bit_of(const char *name, size_t length)
{
	for (unsigned int i = 0; i < LAYER_COUNT; i++)
		if (strlen(names[i]) == length && !strncmp(names[i], name, length))
			return 1u << i;
	return 0;
}

int policy_layers_parse(const char *list, uint32_t *mask)
{
	for (const char *name = list; name; name = *name ? name + 1 : NULL) {
		size_t length = strcspn(name, ",");
		uint32_t bit = bit_of(name, length);

		if (!bit)
			return -EINVAL;
		*mask |= bit;
		name += length;
	}
	return 0;
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
