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

	if (!data)
		return 0;
	return data->layers;
}
