/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/oracle/libdw_walk.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/oracle/captured.h"
#include "tests/oracle/snapshot.h"
#include "object/elf/image.h"

struct walk_state {
	const struct stack *stack;
	struct libdw_frames *frames;
};

/* ---- what libdwfl asks for ---- */

static int no_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **ret_name)
{
	(void)module, (void)userdata, (void)name, (void)base, (void)file, (void)link, (void)crc;
	*ret_name = NULL;
	return -1;
}

static int no_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		  char **ret_name, Elf **ret_elf)
{
	(void)module, (void)userdata, (void)name, (void)base, (void)ret_name, (void)ret_elf;
	return -1;
}

static pid_t next_thread(Dwfl *dwfl, void *argument, void **thread)
{
	struct walk_state *state = *(struct walk_state **)argument;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = state;
	return (pid_t)state->stack->tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *argument, void **thread)
{
	(void)dwfl, (void)tid;
	*thread = *(struct walk_state **)argument;
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *argument)
{
	const struct walk_state *state = argument;
	Dwarf_Word reg[CAPTURE_REGISTERS];

	for (u32 i = 0; i < CAPTURE_REGISTERS; i++)
		reg[i] = state->stack->reg[i];
	dwfl_thread_state_register_pc(thread, reg[16]);
	return dwfl_thread_state_registers(thread, 0, CAPTURE_REGISTERS, reg);
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret_word, void *argument)
{
	struct walk_state *state = *(struct walk_state **)argument;
	u64 word;

	(void)dwfl;
	if (captured_read(state->stack, address, 8, &word) < 0 &&
	    snapshot_read(state->stack->snapshot, address, 8, &word) < 0) {
		state->frames->missed = address;
		return false;
	}
	*ret_word = word;
	return true;
}

/* ---- the process ---- */

static const Dwfl_Callbacks callbacks = {.find_elf = no_elf,
					 .find_debuginfo = no_debuginfo,
					 .section_address = dwfl_offline_section_address};
static const Dwfl_Thread_Callbacks thread_callbacks = {.next_thread = next_thread,
						       .get_thread = get_thread,
						       .memory_read = read_memory,
						       .set_initial_registers = set_registers};

struct session {
	struct walk_state *state; /* what the callbacks get the address of */
	Dwfl *dwfl;
};

static void report(Dwfl *dwfl, const struct area *area)
{
	const struct image_segment *segment;
	int fd = dup(area->object->fd);

	if (fd < 0)
		return;
	if (!image_segments(area->object->image, &segment) ||
	    !dwfl_report_elf(dwfl, area->object->name, area->object->name, fd,
			     area->bias + (segment[0].address & ~4095ull), false))
		close(fd);
}

/*
 * A program at fixed addresses has mapped a part of itself elsewhere: libdw has no place for this.
 */
static bool moved(const struct area *area)
{
	return ((const Elf64_Ehdr *)area->object->bytes)->e_type == ET_EXEC && area->bias;
}

/* Once for each place of a file. */
static bool reported(const struct snapshot *snapshot, size_t before)
{
	for (size_t i = 0; i < before; i++)
		if (snapshot->area[i].object == snapshot->area[before].object &&
		    snapshot->area[i].bias == snapshot->area[before].bias)
			return true;
	return false;
}

static struct session *session_new(const struct snapshot *snapshot)
{
	struct session *session = calloc(1, sizeof(*session));

	if (!session)
		return NULL;
	session->dwfl = dwfl_begin(&callbacks);
	dwfl_report_begin(session->dwfl);
	for (size_t i = 0; i < snapshot->count; i++)
		if (snapshot->area[i].object && !moved(&snapshot->area[i]) &&
		    !reported(snapshot, i))
			report(session->dwfl, &snapshot->area[i]);
	dwfl_report_end(session->dwfl, NULL, NULL);
	if (!dwfl_attach_state(session->dwfl, NULL, (pid_t)snapshot->pid, &thread_callbacks,
			       &session->state)) {
		dwfl_end(session->dwfl);
		session->dwfl = NULL;
	}
	return session;
}

static struct session *session_of(struct snapshot *snapshot)
{
	if (!snapshot->dwfl)
		snapshot->dwfl = session_new(snapshot);
	return snapshot->dwfl;
}

/* ---- walks ---- */

static int on_frame(Dwfl_Frame *at, void *argument)
{
	struct libdw_frames *frames = ((struct walk_state *)argument)->frames;
	Dwarf_Addr pc;
	Dwarf_Word sp;
	bool exact;

	/* asking for the activation may already unwind this frame, with what that misses */
	frames->missed = 0;
	if (!dwfl_frame_pc(at, &pc, &exact))
		return DWARF_CB_ABORT;
	if (frames->count == RECORD_FRAMES_MAX) {
		frames->cut = true;
		return DWARF_CB_ABORT;
	}
	frames->sp[frames->count] = dwfl_frame_reg(at, 7, &sp) == 0 ? sp : 0;
	frames->frame[frames->count++] = pc | (exact ? FRAME_EXACT : 0);
	return DWARF_CB_OK;
}

int libdw_walk(const struct stack *stack, struct libdw_frames *ret_frames)
{
	struct session *session = session_of(stack->snapshot);
	struct walk_state state = {.stack = stack, .frames = ret_frames};

	if (!session || !session->dwfl)
		return -1;
	ret_frames->count = 0;
	ret_frames->missed = 0;
	ret_frames->cut = false;
	session->state = &state;
	/* libdw reports the end of a stack as an error */
	dwfl_getthread_frames(session->dwfl, (pid_t)stack->tid, on_frame, &state);
	session->state = NULL;
	return ret_frames->count ? 0 : -1;
}

bool libdw_has_row(const struct stack *stack, u64 frame)
{
	struct session *session = session_of(stack->snapshot);
	u64 pc = FRAME_ADDRESS(frame) - !(frame & FRAME_EXACT);
	Dwfl_Module *module = session ? dwfl_addrmodule(session->dwfl, pc) : NULL;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	Dwarf_Frame *row;

	if (!cfi || dwarf_cfi_addrframe(cfi, pc - bias, &row) != 0)
		return false;
	free(row);
	return true;
}
