/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/features.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stddef.h>

#include "ipc/log.h"

/* Helpers of bpf/kernel_loop.bpf.h, and what bpf/kernel_for.bpf.h does where there is none. */
static const struct {
	enum bpf_func_id helper;
	const char *name, *instead;
} newer[] = {
	{BPF_FUNC_loop, "bpf_loop (5.17)", "frames are walked by a bounded loop"},
	{BPF_FUNC_find_vma, "bpf_find_vma (5.17)", "areas are looked up without their lock"},
	{BPF_FUNC_task_pt_regs, "bpf_task_pt_regs (5.15)", "registers are found by their place"},
	{BPF_FUNC_get_current_task_btf, "bpf_get_current_task_btf (5.11)",
	 "tasks are read by copy"},
};

static bool lacks(enum bpf_func_id helper)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, helper, NULL) == 0;
}

/* The newest of what both objects use. */
bool features_suffice(void)
{
	return !lacks(BPF_FUNC_ringbuf_reserve);
}

bool features_have_callbacks(void)
{
	bool all = true;

	for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
		if (!lacks(newer[i].helper))
			continue;
		log_info("kernel: %s: missing, %s", newer[i].name, newer[i].instead);
		all = false;
	}
	return all;
}
