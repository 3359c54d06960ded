/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/record.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/oracle/captured.h"
#include "tests/oracle/rewalk.h"

static const char *const reasons[] = {
#define X(name, class, help) #name,
#include "bpf/counters.def"
#undef X
};

static const char *const kinds[16] = {
	"NONE",	  "SP",	 "BP",	 "REG",	    "PLT", "DEREF_SP", "DEREF_BP", "DRAP",
	"SIGNAL", "END", "WIDE", "REALIGN", "",	   "",	       "",	   "UNSUPPORTED"};

/* Returns the kinds of a stack that make it worth keeping, as bits. */
static u32 kind_of(const struct stack *stack, const char *special)
{
	u32 kind = stack->reason << 17 | stack->in_sigreturn << 22 | (*special ? 1u << 23 : 0),
	    exact = 0;

	for (u32 i = 0; i < stack->frames; i++) {
		kind |= 1u << rule_kind(rewalk_rule(stack, stack->frame[i]));
		exact += stack->frame[i] >> 63;
	}
	if (rule_kind(rewalk_rule(stack, stack->frame[0])) == RULE_REG)
		kind |= 1u << 27;
	return kind | (exact > 3 ? 3 : exact) << 24 | (stack->frames > 200 ? 1u << 26 : 0) |
	       (stack->part[1].bytes ? 1u << 28 : 0);
}

/* Writes the rules that the stack needs, for readers of the file. */
static void describe(const struct stack *stack, u32 kind, const char *special, char *text,
		     size_t size, const char *name)
{
	size_t used = (size_t)snprintf(text, size, "%s: %u frames, %s%s%s", name, stack->frames,
				       reasons[stack->reason], *special ? ", " : "", special);

	for (u32 i = 0; i < 16 && used < size; i++)
		if (kind >> i & 1)
			used += (size_t)snprintf(text + used, size - used, "%s%s",
						 kind & ((1u << i) - 1) ? " " : "; rules ",
						 kinds[i]);
}

void record_stack(struct record_folder *folder, const struct stack *stack, const char *special)
{
	u32 kind = kind_of(stack, special);
	char path[512], comment[200];
	FILE *file;

	for (u32 i = 0; i < folder->kinds; i++)
		if (folder->kind[i] == kind)
			return;
	if (folder->kinds == RECORD_KINDS || stack->frames == 0)
		return;
	folder->kind[folder->kinds++] = kind;
	snprintf(path, sizeof(path), "%s/%s-%u", folder->path, folder->name, folder->kinds);
	describe(stack, kind, special, comment, sizeof(comment), folder->name);
	file = fopen(path, "w");
	if (!file)
		return;
	if (rewalk_record(stack, comment, file) < 0) {
		fprintf(stderr, "%s: its reduced stack walks otherwise\n", path);
		unlink(path);
	}
	fclose(file);
}
