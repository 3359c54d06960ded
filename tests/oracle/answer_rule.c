/* SPDX-License-Identifier: Apache-2.0 */
/* Rules word for word as bpf/abi.h describes them, independent of the code that makes them. */
#include <string.h>

#include "tests/oracle/answer.h"
#include "object/unwind/unwind_table.h"

static void set_caller(struct answer answers[ANSWERS], u64 sp, u64 ra)
{
	answers[6] = (struct answer){VALUE, ra};
	answers[7] = (struct answer){VALUE, sp};
}

static void our_signal(const struct answer_state *state, struct answer answers[ANSWERS])
{
	static const u64 at[ANSWERS] = {120, 128, 72, 80, 88, 96, 168, 160};

	for (int i = 0; i < ANSWERS; i++)
		answers[i] = (struct answer){VALUE, answer_memory(state->reg[REGISTER_SP] + at[i])};
}

static void our_wide(const struct unwind_table *table, u64 rule, const struct answer_state *state,
		     struct answer answers[ANSWERS])
{
	struct rule_wide wide;
	u64 cfa;

	memcpy(&wide, &table->dictionary[rule_offset(rule)], sizeof(wide));
	cfa = state->reg[wide.base] + (u64)(s64)wide.cfa_offset;
	if (wide.deref)
		cfa = answer_memory(cfa) + (u64)(s64)wide.cfa_add;
	for (u32 i = 0; i < RULE_SLOTS; i++) {
		s32 save = wide.save[i];

		if (save == RULE_WIDE_LOST)
			answers[i].known = LOST;
		else if (save >= RULE_WIDE_IN(0) && save <= RULE_WIDE_IN(15))
			answers[i].value = state->reg[save - RULE_WIDE_IN(0)];
		else if (save != RULE_WIDE_SAME)
			answers[i].value = answer_memory(cfa + (u64)(s64)save);
	}
	set_caller(answers, cfa,
		   wide.ra_reg == 16 ? answer_memory(cfa + (u64)(s64)wide.ra_offset)
				     : state->reg[wide.ra_reg]);
}

static u64 our_cfa(u64 rule, const struct answer_state *state)
{
	u64 sp = state->reg[REGISTER_SP], bp = state->reg[REGISTER_BP];
	u64 offset = (u64)rule_offset(rule), reg = rule_reg(rule);

	switch (rule_kind(rule)) {
	case RULE_SP:
		return sp + offset;
	case RULE_BP:
		return bp + offset;
	case RULE_REG:
	case RULE_REALIGN:
		return state->reg[reg] + offset;
	case RULE_PLT:
		return sp + 8 + ((state->reg[16] & 15) >= reg ? 8 : 0);
	case RULE_DEREF_SP:
		return answer_memory(sp + offset) + 8 * reg;
	case RULE_DEREF_BP:
		return answer_memory(bp + offset) + 8 * reg;
	default:
		return answer_memory(bp + offset);
	}
}

static u64 save_base(bool around_bp, u64 cfa, const struct answer_state *state)
{
	return around_bp ? state->reg[REGISTER_BP] + 8 : cfa - 8;
}

/* Returns false for a rule that cannot be compared. */
bool answer_rule(const struct unwind_table *table, u64 rule, const struct answer_state *state,
		 struct answer answers[ANSWERS])
{
	u32 kind = rule_kind(rule);
	bool around_bp = kind == RULE_DRAP || kind == RULE_REALIGN;
	u64 cfa, slot;

	for (int i = 0; i < ANSWERS; i++)
		answers[i] = (struct answer){VALUE, state->reg[answer_registers[i].reg]};
	if (kind == RULE_SIGNAL) {
		our_signal(state, answers);
		return true;
	}
	if (kind == RULE_WIDE) {
		our_wide(table, rule, state, answers);
		return true;
	}
	if (kind == RULE_NONE || kind > RULE_REALIGN)
		return false;
	cfa = our_cfa(rule, state);
	for (u32 i = 0; i < RULE_SLOTS; i++) {
		slot = rule_slots(rule) >> i * 4 & 15;
		if (slot > 0)
			answers[i].value = answer_memory(
				save_base(around_bp && (i == 0 || slot > 1), cfa, state) -
				8 * slot);
	}
	set_caller(answers, cfa, answer_memory(cfa - 8));
	return true;
}
