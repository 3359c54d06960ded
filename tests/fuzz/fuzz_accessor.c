/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input changes the bits of an interpreter: of its functions, symbols, relocations and data.
 * The first byte tells the version.
 */
#include <stdint.h>
#include <stdlib.h>

#include "object/elf/image.h"
#include "tests/unit/build_python.h"
#include "worker/runtime/cpython_types.h"
#include "worker/runtime/instruction.h"
#include "worker/runtime/runtime.h"
#include "worker/runtime/thread_context.h"

#define CODE_BYTES_MAX 0x920u /* of the functions that are there */
#define DATA_BYTES_MAX 0xc00u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void (*const versions[])(struct build_python *python) = {
	build_python_3_10,
	build_python_3_11,
	build_python_3_12,
	build_python_3_14,
};

/* Changes `most` bytes at most. Returns how many. */
static size_t change(void *bytes, size_t most, const uint8_t *data, size_t size)
{
	if (size > most)
		size = most;
	for (size_t i = 0; i < size; i++)
		((unsigned char *)bytes)[i] ^= data[i];
	return size;
}

static void must(int good)
{
	if (!good)
		abort();
}

static void check_root(const struct runtime_root *root)
{
	must(root->start < RUNTIME_STARTS && root->steps <= RUNTIME_STEPS_MAX);
	must(root->start == RUNTIME_AT_NOTHING || root->steps > 0);
}

/* BPF relies on none of this, but a config that it cannot use is a mistake. */
static void check(const struct runtime_config *config)
{
	check_root(&config->root[0]);
	check_root(&config->root[1]);
	must(config->node_bytes <= RUNTIME_NODE_BYTES);
	must(config->previous + 8u <= config->node_bytes &&
	     config->code + 8u <= config->node_bytes);
	must(config->instruction + 4u <= config->node_bytes);
	must(config->border + 4u <= config->node_bytes);
	must(config->name + 8u <= CODE_PART_1);
}

static void decode_all(const uint8_t *data, size_t size)
{
	struct instruction instruction;

	for (size_t at = 0; at < size; at += instruction.size) {
		if (instruction_decode(data + at, size - at, at, &instruction) < 0)
			return;
		must(instruction.size > 0 && instruction.size <= INSTRUCTION_BYTES_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct build_python python;
	struct runtime_setup setup;
	struct cpython_types copies;
	struct runtime_root root;
	struct image *image;
	size_t used;
	int r;

	if (size == 0)
		return 0;
	decode_all(data + 1, size - 1);
	versions[data[0] % 4](&python);
	/* a thread-local variable, which the relocations may be about */
	build_python_symbol(&python, "otel_thread_ctx_v1", 0x10, 8);
	python.symbol[python.symbols - 1].st_info = STT_TLS;
	python.tls = (Elf64_Phdr){.p_vaddr = 0x4000, .p_memsz = 0x20, .p_align = 16};
	python.is_program = true;
	used = 1;
	used += change(python.text, CODE_BYTES_MAX, data + used, size - used);
	used += change(python.relocation, sizeof(python.relocation), data + used, size - used);
	used += change(python.data, DATA_BYTES_MAX, data + used, size - used);
	used += change(python.symbol + 1, (python.symbols - 1) * sizeof(*python.symbol),
		       data + used, size - used);
	image = build_python_image(&python);
	if (thread_context_find(image, &root) == 0)
		check_root(&root);
	r = runtime_configure(RUNTIME_CPYTHON, image, &setup);
	cpython_types_copied(image, &copies);
	image_close(image);
	if (r == 0)
		check(&setup.config);
	/* an input that changes nothing shows that the fuzzer reaches a config */
	must(r == 0 || size > 1);
	return 0;
}
