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
