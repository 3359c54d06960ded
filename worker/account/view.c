/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/account/view.h"

#include "worker/account/reference.h"

bool view_split(const struct amount *amount, uint64_t *ret_user, uint64_t *ret_system)
{
	const uint64_t user = amount->figure[FIGURE_user], system = amount->figure[FIGURE_system];
	const double share = (double)user / (double)(user + system);

	if (user + system == 0)
		return false;
	*ret_user = (uint64_t)((double)amount->ns * share);
	if (*ret_user > amount->ns)
		*ret_user = amount->ns;
	*ret_system = amount->ns - *ret_user;
	return true;
}

double view_error(const struct view *view)
{
	const double wall = (double)view->sums.wall, charged = (double)view->sums.charged;

	if (view->sums.wall == 0)
		return 0;
	if (charged > wall)
		return (charged - wall) / wall;
	return (wall - charged) / wall;
}

bool view_has_frequency(const struct view *view)
{
	const uint32_t both = 1u << ACCOUNT_COUNTER_cycles | 1u << ACCOUNT_COUNTER_ref_cycles;

	return (view->sums.counters & both) == both;
}

uint64_t view_frequency(const struct view *view, const struct amount *amount)
{
	if (!view_has_frequency(view))
		return 0;
	return reference_scale(view->reference_hz, amount->counter[ACCOUNT_COUNTER_cycles],
			       amount->counter[ACCOUNT_COUNTER_ref_cycles]);
}

const char *view_counter(const struct view *view, unsigned int counter)
{
	static const char *const names[ACCOUNT_COUNTERS] = {
#define C(name, type, config) #name,
#include "bpf/account_counters.def"
#undef C
	};

	if (!(view->sums.counters >> counter & 1))
		return NULL;
	return names[counter];
}

const char *view_softirq(unsigned int vector)
{
	static const char *const names[ACCOUNT_SOFTIRQS] = {
#define I(number, name) [number] = #name,
#include "ipc/softirqs.def"
#undef I
	};

	if (vector >= ACCOUNT_SOFTIRQS)
		return "unknown";
	return names[vector];
}

bool view_has_energy(const struct view *view)
{
	return view->energy && view->energies.readings > 0;
}

size_t view_zones(const struct view *view)
{
	if (!view->energy)
		return 0;
	return view->energy->count;
}
