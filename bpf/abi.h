/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything that crosses between bpf/ and user space: fixed-width types, no pointers, sizes
 * asserted. BPF programs, the loader, the worker and host tests include this header, which may
 * include nothing that one of them cannot.
 *
 * A "pc" is an address in the object's own ELF address space (p_vaddr). An "address" is one in a
 * process. bias = address - pc.
 */
#ifndef KEYHOLE_BPF_ABI_H
#define KEYHOLE_BPF_ABI_H

#ifndef KEYHOLE_BPF_TYPES
#define KEYHOLE_BPF_TYPES
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char s8;
typedef short s16;
typedef int s32;
typedef long long s64;
#endif

#define ABI_MAX_CPUS   1024u
#define ABI_COMM_BYTES 16u

/* ---- segments: 1 MiB mmapable arrays of words, addressed by one global word number ---------- */

#ifndef SEGMENT_WORD_BITS
#define SEGMENT_WORD_BITS 18u
#endif
#define SEGMENT_WORDS (1u << SEGMENT_WORD_BITS) /* u32 words in a segment */
#define SEGMENT_BYTES (SEGMENT_WORDS * 4u)
#ifndef SEGMENT_MAX
#define SEGMENT_MAX 1024u /* entries of the map of segments: word numbers have 28 bits */
#endif
#define SEGMENT_WORD_NONE 0u /* word 0 of segment 0 is never handed out */

struct segment {
	u32 word[SEGMENT_WORDS];
};

/* ---- unwind rules ---------------------------------------------------------------------------
 *
 * A rule is one u64:
 *   bits  0- 3  kind
 *   bits  4- 7  reg: DWARF number of a register, or a small operand (see the kinds)
 *   bits  8-31  six 4-bit save slots: rbp rbx r12 r13 r14 r15 (in this order, rbp lowest)
 *   bits 32-55  offset, signed 24 bit
 *   bits 56-63  flags
 * With save slot 0, the register keeps its value. With k = 1..15, the register is saved at
 * CFA - 8 - 8 * k. In RULE_DRAP and RULE_REALIGN frames, the place is rbp + 8 - 8 * k instead:
 * k = 1 is the saved rbp, to which rbp itself points. For the other registers k = 1 stands for
 * CFA - 16.
 * The return address is at CFA - 8 except where the kind says otherwise.
 */
enum rule_kind {
	RULE_NONE = 0,	   /* no information: frame pointer or leaf fallback */
	RULE_SP = 1,	   /* CFA = rsp + offset */
	RULE_BP = 2,	   /* CFA = rbp + offset */
	RULE_REG = 3,	   /* CFA = reg + offset */
	RULE_PLT = 4,	   /* CFA = rsp + 8 + ((pc & 15) >= reg ? 8 : 0) */
	RULE_DEREF_SP = 5, /* CFA = *(rsp + offset) + 8 * reg */
	RULE_DEREF_BP = 6, /* CFA = *(rbp + offset) + 8 * reg; saves relative to CFA */
	RULE_DRAP = 7,	 /* CFA = *(rbp + offset); saves relative to rbp (GCC's realigned frames) */
	RULE_SIGNAL = 8, /* rt_sigreturn trampoline: everything from the ucontext at rsp */
	RULE_END = 9,	 /* return address undefined, or the program's entry point: a proven root */
	RULE_WIDE = 10,	 /* offset is the dictionary index of a struct rule_wide */
	RULE_REALIGN = 11,     /* CFA = reg + offset; saves relative to rbp, as in RULE_DRAP */
	RULE_SWITCH = 12,      /* Go's runtime changes stacks: reg is enum go_switch, see there */
	RULE_UNSUPPORTED = 15, /* the object describes the frame in a way that no rule can */
};

#define RULE_SLOTS	6u /* rbp rbx r12 r13 r14 r15 */
#define RULE_OFFSET_MAX ((1 << 23) - 1)
#define RULE_OFFSET_MIN (-(1 << 23))

#define RULE_FLAG_SIGNAL  0x01u /* of RULE_SIGNAL: the interrupted pc is exact */
#define RULE_FLAG_ENTRY	  0x02u /* of RULE_END: the program's entry point */
#define RULE_FLAG_DERIVED 0x04u /* from instructions, not from unwind information */
#define RULE_FLAG_RUNTIME 0x08u /* entry of an interpreter loop */

#define RULE_MAKE(kind, reg, slots, offset, flags)                           \
	((u64)(kind) | (u64)((reg)&15) << 4 | (u64)((slots)&0xffffff) << 8 | \
	 (u64)((u32)(offset)&0xffffff) << 32 | (u64)((flags)&0xff) << 56)

static inline u32 rule_kind(u64 rule)
{
	return rule & 15;
}
static inline u32 rule_reg(u64 rule)
{
	return rule >> 4 & 15;
}
static inline u32 rule_slots(u64 rule)
{
	return rule >> 8 & 0xffffff;
}
static inline s64 rule_offset(u64 rule)
{
	return (s64)(rule << 8) >> 40;
}
static inline u32 rule_flags(u64 rule)
{
	return rule >> 56;
}

/*
 * RULE_SWITCH: the way from a stack to another one, which Go's runtime took. The slots are these
 * operands:
 *   bits  0- 7  words from the stack pointer to the return address
 *   bits  8- 9  layout: 0 until Go 1.24, 1 since Go 1.25
 *   bits 10-13  a register, or the index of a word of the frame
 *   bit  14     rbp is saved below the return address
 *   bit  15     a library: the following offset is in a word of its data, whose number this is
 * The offset is that of the pointer to the goroutine (g) from the thread pointer. BPF takes the way
 * only where g, its thread (m) and the thread's other goroutines point to each other.
 */
enum go_switch {
	GO_SWITCH_SYSTEM,      /* the goroutine waits in this very function */
	GO_SWITCH_GROW,	       /* it waits behind its call of this function */
	GO_SWITCH_LEAVE,       /* the same, unless the thread has left it for another goroutine */
	GO_SWITCH_CGO,	       /* it waits in this function for C; the frame has its place */
	GO_SWITCH_CALLBACK,    /* C waits in this function, on the thread's stack */
	GO_SWITCH_KEPT,	       /* a register has the stack pointer */
	GO_SWITCH_ENTER,       /* on the stack of a goroutine that is about to go on */
	GO_SWITCH_INTERRUPTED, /* no switch: the return address is an interrupted pc */
};
#define GO_SWITCH_OPERANDS(distance, layout, operand, saved) \
	((distance) | (layout) << 8 | (operand) << 10 | (u32)(saved) << 14)
#define GO_SWITCH_IN_WORD      (1u << 15)
#define GO_SWITCH_DISTANCE_MAX 255u
#define GO_THREAD_LOCAL_MAX    4096u /* bytes below the thread pointer */
/* Offset of curg in struct m, of layouts 0 and 1. */
#define GO_CURRENT_116 192
#define GO_CURRENT_125 184

/* The parts of a wide rule: 48 bytes = 6 dictionary entries, 8-byte aligned in the dictionary. */
#define RULE_WIDE_SAME	  ((s32)0x80000000) /* save[i]: the register keeps its value */
#define RULE_WIDE_LOST	  ((s32)0x80000001) /* save[i]: the value is lost to the walk; never rbp */
#define RULE_WIDE_IN(reg) ((s32)(0x80000010u + (reg))) /* save[i]: in that register */
struct rule_wide {
	s32 cfa_offset; /* CFA = base + cfa_offset, or *(base + cfa_offset) + cfa_add */
	s32 cfa_add;
	u8 base;   /* DWARF register */
	u8 deref;  /* 1: CFA is read from memory */
	u8 flags;  /* 0 */
	u8 ra_reg; /* 16: return address in memory at CFA + ra_offset, else in this register */
	s32 ra_offset;
	s32 save[RULE_SLOTS]; /* relative to the CFA */
	s32 pad[2];
};
_Static_assert(sizeof(struct rule_wide) == 48, "struct rule_wide is six dictionary entries");

/* ---- chunked tables -------------------------------------------------------------------------
 *
 * Text is cut into pages of 256 bytes of pc and chunks of 64 pages (16 KiB). An object has
 *  - a dictionary: u64 rules, 8-byte aligned, most frequent first; rows name entries 0..254;
 *  - a directory: one u32 per chunk, the global word number of the chunk, 0 = no rows there;
 *  - chunks: u16 first_row[65] (index into the chunk's rows of each page's first own row),
 *    u16 escapes, u16 rows, u16 zero, then `rows` rows of u16 {low byte: pc & 255, high byte:
 *    rule}, padded to a word, then `escapes` words {low half: row, high half: dictionary index}
 *    sorted by row. The escapes have the index of a row whose rule byte is
 *    ROW_ESCAPE.
 * Row 0 of a chunk is the carry-in: the rule in force at the chunk's start, pc byte 0; first_row[0]
 * is 1. A page without rows of its own takes the row before the page, and so does the part of a
 * page before its first row. A gap in the unwind information is a row with RULE_NONE.
 * Dictionary, directory and each chunk lie within one segment.
 */
#define PAGE_BITS	 8u
#define CHUNK_PAGE_BITS	 6u
#define CHUNK_PAGES	 (1u << CHUNK_PAGE_BITS)
#define CHUNK_BITS	 (PAGE_BITS + CHUNK_PAGE_BITS)
#define ROW_ESCAPE	 255u
#define CHUNK_ESCAPES_AT 65u /* u16 index of the head's fields */
#define CHUNK_ROWS_AT	 66u
#define CHUNK_HEAD_U16	 68u
#define CHUNK_HEAD_WORDS (CHUNK_HEAD_U16 / 2u)
#define CHUNK_ROWS_MAX	 16385u /* a row per byte and the carry-in */

/* ---- mappings of a process ------------------------------------------------------------------
 *
 * A block has the executable mappings of a process. First come `count` u64 start addresses, sorted,
 * and padding to 64 bytes. Then come `count` struct mapping_entry in the same order. Last comes a
 * struct thread_context, where PROCESS_SLOT_CONTEXT or PROCESS_SLOT_LABELS say so. A block is
 * 64-byte aligned and within one segment.
 */
#ifndef BLOCK_MAPPINGS_MAX
#define BLOCK_MAPPINGS_MAX 8191u
#endif

#define MAPPING_HAS_TABLE 1u
#define MAPPING_PENDING	  2u /* the worker still makes its table: the walk ends as cut_not_ready */
#define MAPPING_NO_ROOM	  4u /* no segment has room for its table: cut_no_room */

struct mapping_entry {
	u64 start, end; /* addresses, end exclusive */
	u64 bias;
	u32 first_page; /* pc >> PAGE_BITS of the directory's first page, chunk aligned */
	u32 pages;	/* covered by the directory */
	u32 directory;	/* global word number */
	u32 dictionary; /* global word number */
	u32 flags;	/* MAPPING_* */
	u32 runtime;	/* global word number of a struct runtime_config; 0: none */
	u64 rule;	/* of all code of a mapping without a table */
	/* Instead of `rule`, where the word below the CFA of that rule is a stack address */
	u64 framed_rule;
};
_Static_assert(sizeof(struct mapping_entry) == 64, "one cache line");

/*
 * The place of a process's block: open addressing, linear probing from process_slot_hash(pid).
 *   key:   pid (22 bits) | generation << 22; 0 = never used (ends a probe),
 *          PROCESS_SLOT_GONE = free
 *   block: block >> 4 (24 bits) | count << 24 (13 bits) | flags (3 bits) | version << 40
 * block is a global word number, a multiple of 16. The worker stores block, then key; BPF reads
 * key, block, key. Within one key, the worker replaces `block` by one store. The version changes
 * whenever an address of the process changes its meaning; a new mapping does not change the
 * version. Processes that came from each other by fork share cached rules where their versions are
 * equal.
 *
 * Block 0 says that no segment has room for the block, and that an older block would be wrong about
 * some address. The older block may be the process's own or the parent's. A parent's block serves a
 * child only as long as the child has no slot, so a slot with block 0 hides the parent's block.
 */
#ifndef PROCESS_SLOTS
#define PROCESS_SLOTS 4096u
#endif
#ifndef PROCESS_PROBES
#define PROCESS_PROBES 16u
#endif
/*
 * No segment has room for a part of the block. An address in none of the block's mappings is
 * cut_no_room, and so is an address in a pending mapping.
 */
#define PROCESS_SLOT_INCOMPLETE (1ull << 37)
/* The block has a struct thread_context, with a root; with the place of Go's labels. */
#define PROCESS_SLOT_CONTEXT (1ull << 38)
#define PROCESS_SLOT_LABELS  (1ull << 39)

#define PROCESS_SLOT_VERSION_SHIFT 40 /* 24 bits */
#define PROCESS_SLOT_VERSION_MAX   ((1u << 24) - 1)
#define PROCESS_SLOT_GONE	   (~0ull)
#define PROCESS_PID_BITS	   22u
#define PROCESS_PID_MAX		   ((1u << PROCESS_PID_BITS) - 1)

_Static_assert(PROCESS_SLOTS <= 4096 && (PROCESS_SLOTS & (PROCESS_SLOTS - 1)) == 0 &&
		       PROCESS_PROBES <= PROCESS_SLOTS,
	       "a hash finds every slot");
_Static_assert(BLOCK_MAPPINGS_MAX < 8192 && (BLOCK_MAPPINGS_MAX & (BLOCK_MAPPINGS_MAX + 1)) == 0,
	       "a mask of the count's 13 bits");

struct process_slot {
	u64 key;
	u64 block;
};
struct process_table {
	struct process_slot slot[PROCESS_SLOTS];
};

static inline u64 process_slot_key(u32 pid, u64 generation)
{
	return (u64)pid | generation << PROCESS_PID_BITS;
}
static inline u32 process_slot_hash(u32 pid)
{
	return pid * 2654435761u >> 20; /* 12 bits: PROCESS_SLOTS */
}
static inline u64 process_slot_block(u32 block, u32 count, u64 version)
{
	return (u64)(block >> 4) | (u64)count << 24 | version << PROCESS_SLOT_VERSION_SHIFT;
}
static inline u64 process_slot_version(u64 block)
{
	return block >> PROCESS_SLOT_VERSION_SHIFT;
}

/* ---- runtimes of languages ------------------------------------------------------------------
 *
 * The functions of an interpreted program have no frames on the stack. The interpreter has a list
 * of frames of its own, innermost first. An activation of the interpreter's loop has a frame on the
 * stack, and some frames of the list. A struct runtime_config says how to walk the list. Each
 * interpreter's object has one, 64-byte aligned and within one segment. All rules of the object
 * have RULE_FLAG_RUNTIME. BPF walks the list of a process that has a grant, and of no other one.
 */
#define RUNTIME_STEPS_MAX   4u
#define RUNTIME_NODE_BYTES  128u
#define RUNTIME_PARTS	    4u
#define RUNTIME_CODE_ITSELF 0xffffu
#define RUNTIME_CODE_NAMES  0xfffeu /* what is at struct event_code's `name` */

enum runtime_start {
	RUNTIME_AT_NOTHING,
	RUNTIME_AT_PC,	     /* the address of `pc` */
	RUNTIME_AT_THREAD,   /* the thread pointer */
	RUNTIME_AT_KEY,	     /* the place of a pthread key's value; the u32 at `pc` is the key */
	RUNTIME_AT_KEY_MUSL, /* the same with musl */
	RUNTIME_AT_MODULE,   /* thread-local memory; the u64 at `pc` is the module's number, and */
	RUNTIME_AT_MODULE_MUSL, /* the next u64 is an offset in the module's memory */
	RUNTIME_AT_OFFSET,	/* the u64 at `pc` is an offset from the thread pointer */
	/*
	 * The u64 behind `pc` is such an offset, which is negative. Or it is the address of a
	 * module's number and of an offset, as with RUNTIME_AT_MODULE. x86-64 ABI: TLSDESC
	 */
	RUNTIME_AT_DESCRIPTOR,
	RUNTIME_AT_DESCRIPTOR_MUSL,
	/*
	 * The u64 at `pc` is the address of the state of the thread that holds a lock. The u64 at
	 * `holder` in this state has to be the thread pointer.
	 */
	RUNTIME_AT_HOLDER,
	RUNTIME_AT_SCAN /* a state of the program: see struct runtime_state */
};
#define RUNTIME_STARTS (RUNTIME_AT_SCAN + 1)

/* The way to a pointer: value = start; then, for each step, value = *(u64 *)(value + offset). */
struct runtime_root {
	u64 pc;
	u32 start; /* enum runtime_start */
	u32 steps;
	s32 offset[RUNTIME_STEPS_MAX];
};

/*
 * Where a process has the OpenTelemetry context of the current thread (OTEP 4947): the way to a
 * thread-local variable, and from there to a record. A record begins with 16 bytes of a trace, 8
 * bytes of a span, and a byte that is 1. Where the ids are 0 or that byte is not 1, there is none.
 */
enum go_labels_form {
	GO_LABELS_NONE,
	GO_LABELS_MAP, /* a pointer to a map of strings (Go 1.23 and older: struct hmap) */
	GO_LABELS_LIST /* a slice of pairs of strings */
};
/*
 * Where a goroutine has its labels (runtime/pprof) and its number. Offsets in struct g, but for
 * `current`, of curg in struct m.
 */
struct go_labels {
	/*
	 * Address of a word with the offset instead, as in a library. 0: none. Until the labels are
	 * published, this is an address of the object's own.
	 */
	u64 word;
	s32 thread_local_at; /* of the goroutine's address, from the thread pointer */
	u16 current;
	u16 labels;
	u16 number;
	u16 form; /* enum go_labels_form; GO_LABELS_NONE: no Go */
	u32 pad;
};
struct thread_context {
	struct runtime_root root; /* `pc` is an address; RUNTIME_AT_NOTHING: no context */
	struct go_labels go;
	u64 pad;
};
_Static_assert(sizeof(struct thread_context) == 64, "one cache line");
#define CONTEXT_RECORD_BYTES 25u
#define CONTEXT_WORDS	     3u /* of a trace, 2, and of a span, as bytes lie in memory */

/*
 * A sample's labels of a goroutine: a word with its number, and GO_LABEL_WORDS for each label. The
 * first of these is the bytes of the key and of the value, in 8 bits each. GO_LABEL_CUT and
 * GO_VALUE_CUT say that the text was longer. The key follows, and then the value.
 */
#ifndef GO_LABELS_MAX
#define GO_LABELS_MAX 16u
#endif
#ifndef GO_LABEL_BYTES
#define GO_LABEL_BYTES 64u
#endif
#define GO_LABEL_WORDS	(1u + 2 * GO_LABEL_BYTES / 8)
#define GO_LABELS_WORDS (1u + GO_LABELS_MAX * GO_LABEL_WORDS)
#define GO_LABEL_CUT	(1ull << 16)
#define GO_VALUE_CUT	(1ull << 17)

enum labels_result {
	LABELS_NOT_WANTED,
	LABELS_NOT_GRANTED,
	LABELS_DENIED,
	LABELS_OVERDRAWN,
	LABELS_NOT_NOW,
	LABELS_NO_GOROUTINE, /* the thread runs none */
	LABELS_CUT,	     /* taken, without some labels */
	LABELS_TAKEN
};
#define LABELS_RESULTS (LABELS_TAKEN + 1)

/* The fate of a sample's context. BPF has looked for one from CONTEXT_NONE on. */
enum context_result {
	CONTEXT_NOT_PUBLISHED, /* by the process */
	CONTEXT_NOT_GRANTED,
	CONTEXT_DENIED,	   /* by a rule about the process's cgroup */
	CONTEXT_OVERDRAWN, /* as much as the grant allows was taken */
	CONTEXT_NOT_NOW,   /* a kept sample, whose thread goes on meanwhile */
	CONTEXT_NONE,	   /* the thread has none at this moment, or it cannot be read */
	CONTEXT_TAKEN
};
#define CONTEXT_RESULTS (CONTEXT_TAKEN + 1)

#define RUNTIME_INDEX	    1u /* `instruction` is a u32, no pointer */
#define RUNTIME_BORDER_SHOW 2u /* a border is a frame too, the outermost one of its activation */
#define RUNTIME_ANCHOR_NODE 4u /* the border itself is on the stack, in the frame of the loop */
/*
 * Anchors are a list of their own, one for each activation. The last step of the root starts at the
 * innermost one. Neither: the list has no borders.
 */
#define RUNTIME_ANCHOR_LIST 8u
#define RUNTIME_APART	    16u /* frames are not side by side: each has a read of its own */
/*
 * Threads have copies of the instructions. The u64 at `copies` in code is the address of a length
 * and of the copies' addresses. The u32 at `copy` in a frame chooses one; 0 is the code's own.
 */
#define RUNTIME_COPIES 32u
/* Frames are an array: the caller's is before a frame, up to the state's `end`. */
#define RUNTIME_ARRAY	64u
#define RUNTIME_POINTED 128u /* `instructions` in code is a pointer to them */
/* `code` leads to a pointer to an object, and the object has the pointer to code. */
#define RUNTIME_OBJECT 256u
/*
 * No frame says that it is a border. A frame is one if the caller is not of the program. It is one,
 * too, if no call led to it: the masked u32 before the caller's instruction is not `call_value`.
 */
#define RUNTIME_BORDER_CALLER 512u
#define RUNTIME_MAIN_WITHIN   1024u /* the main state lies in what all states share */

/*
 * RUNTIME_AT_SCAN: the program has states, one for each of its coroutines, and no variable leads
 * to the one that runs. Registers and words of the stack point to it. A state has a pointer to what
 * all states of the program share, which leads to the main state.
 *
 * A state that runs has handlers of errors on the stack. They are a list, innermost first. The
 * first word of a handler is the address of the next one, or 0. Behind the outermost handler the
 * stack is that of the state that resumed this one.
 */
struct runtime_state {
	u16 bytes; /* of a state, at most RUNTIME_STATE_BYTES; 0: none. Offsets in it: */
	u16 type;  /* of a byte */
	u16 type_value;
	u16 shared, handler;
	u16 handler_bytes; /* of a handler, in which words may be stale */
	u16 frame;	   /* the innermost one */
	u16 instruction;   /* RUNTIME_ARRAY: of that frame */
	u16 end;	   /* RUNTIME_ARRAY: the outermost frame, which has no code */
	u16 main;	   /* offset in what is shared, of a pointer to the main state */
};
#define RUNTIME_STATE_BYTES 256u

/*
 * RUNTIME_NAMES: a function has no name of its own, but the code of its caller has one. The
 * instruction of the call has the number of a register. The last instruction before it that has
 * this register says where a text is: in an array of the caller's code.
 */
#define RUNTIME_NAMES	   2048u
#define RUNTIME_FORMS	   6u
#define RUNTIME_TEXT_BYTES 64u

enum runtime_source {
	RUNTIME_OF_NOTHING,
	RUNTIME_OF_CONSTANTS, /* elements of 16 bytes, which begin with a pointer to the text */
	RUNTIME_OF_UPVALUES,  /* the same of `upvalue_bytes` */
	/*
	 * Variables: elements of 16 bytes, a pointer and two u32. These are the first instruction
	 * where the variable is there, and the first one where it is gone. The index counts those
	 * that are there.
	 */
	RUNTIME_OF_VARIABLES,
	/* references of `upvalue_bytes` before the address of the constants, backwards */
	RUNTIME_OF_REFERENCES,
	/*
	 * The event has what is at `upvalues` or `variables`, which is packed, and in `named` which
	 * text that is.
	 */
	RUNTIME_OF_PACKED_UPVALUES,
	RUNTIME_OF_PACKED_VARIABLES,
	/*
	 * The last form: makes a function. Instructions behind it that have register 0, and opcodes
	 * of the first two forms, say what it captures. They load no register.
	 */
	RUNTIME_OF_CAPTURES
};

/* How instructions with an opcode name what they put into the register. */
struct runtime_form {
	u8 opcode, source; /* enum runtime_source */
	u8 shift, bits;	   /* of the index into the array */
	u8 needs;	   /* the number of a bit that has to be set; 0: none */
	u8 pad[3];
};

struct runtime_names {
	u32 tail_mask; /* bits at `tail` in a frame: the function took the place of another one */
	u16 tail;
	u16 constants, upvalues, upvalue_bytes, variables, variable_count; /* offsets in code */
	u8 opcode_bits; /* the register follows, 8 bits */
	u8 call, jump;	/* opcodes; jumps have no register */
	u8 other_call;	/* the same as `call` */
	struct runtime_form form[RUNTIME_FORMS];
};

/*
 * RUNTIME_STACKED: the frames lie on a stack of 8-byte slots. A state has the innermost frame's
 * base. The head before a base has the function and a link, which is at `previous`. The lowest bits
 * of a link say what it is (enum runtime_link). LINK_CALL is an address of the caller's instruction
 * behind the call. The second byte of the call counts slots between both bases. Any other link is
 * the distance of the bases. References in states and heads have 4 or 8 bytes: see code_mask.
 *
 * The handlers of a state are the frames of native code that runs it (anchors). The innermost one
 * runs the frames up to the first LINK_NATIVE.
 */
#define RUNTIME_STACKED 4096u
enum runtime_link {
	LINK_CALL = 0,
	LINK_NATIVE = 1,    /* native code called the function */
	LINK_CONTINUES = 2, /* so did an instruction, whose address is at `continued` */
	LINK_ARGUMENTS = 3, /* the next frame is the function's, too */
	LINK_KIND = 3,
	LINK_BITS = 7
};
struct runtime_stack {
	u64 inside; /* address in the image, behind a call in code whose frames are anchors */
	u16 head;   /* bytes before a base, at most RUNTIME_NODE_BYTES. Offsets in it: */
	u16 continued, callback; /* LINK_CONTINUES: a reference of 1 there means LINK_NATIVE */
	u16 slots;		 /* of the function and the link */
	u16 code_head; /* the object has the address of the instructions, behind the code's head */
	/* Offsets in a native frame: the state, the instruction after the present one, and */
	u16 anchor_state, anchor_place;
	u16 anchor_return; /* the return address */
	u16 trace_base;	   /* offset in what is shared, of the base of a running trace, or of 0 */
	/* Numbers of the leaf's registers (walk_leaf()): the base, and the instruction; 0: any */
	u8 leaf_base, leaf_place;
	u8 pad[4];
};

/*
 * A trace is code that a runtime made of several functions. Meanwhile the stack of values has the
 * frames up to that where the trace began. The trace has a snapshot for each range of its code,
 * with the rest. A snapshot is an array of entries, and behind them a u64: (address of the
 * instruction) << 8 | depth. An entry is slot << 24 | flags | number of a constant. The slots count
 * from the head of the trace's first frame. All structures have references of 8 bytes.
 */
struct runtime_trace {
	u16 bytes; /* of a trace that are read, at most RUNTIME_TRACE_BYTES; 0: no traces */
	/* Offsets in what is shared: the running trace's number, a u32; the array of traces */
	u16 number, traces;
	/* Offsets in a trace: constants; snapshots, and a u16, how many; the array of entries */
	u16 constants, snapshots, snapshots_count, entries;
	u16 code, code_bytes; /* the code, and a u32 */
	u16 snapshot_bytes;
	/* Offsets in a snapshot: a u16, where its code begins; a u32, its first entry; a u8 */
	u16 snapshot_code, snapshot_first, snapshot_count;
	u16 head,
		heads; /* a function's first instruction: one of so many opcodes from this one on */
	u16 pad;
};
#define RUNTIME_TRACE_BYTES	128u
#define RUNTIME_ENTRY_SLOT(e)	((e) >> 24)
#define RUNTIME_ENTRY_FRAME	0x10000u /* the slot has a link */
#define RUNTIME_ENTRY_NUMBER(e) ((e)&0xffffu)
#define RUNTIME_CONSTANTS	0x8000u /* other numbers are of values that are not known before */

/*
 * RUNTIME_OWNED: the name of a function's class. `pointer` in code leads to the class, and `text`
 * in it to the name, whose bytes are at `data`. The event has them as its text. All are offsets.
 *
 * A frame without code is the runtime's own. One of these is within a generator, which is also the
 * frame's object: it stands for the generators that wait for the frame before. This one's generator
 * is the innermost, and the object the outermost. A generator has its frame, how many generators
 * wait for it, and the one that does.
 */
#define RUNTIME_OWNED 8192u
struct runtime_owner {
	u16 pointer, text;
	u16 object; /* in a frame, at the place of names.tail; `shown` is that of the generator */
	u16 data;
	u16 placeholder, frame, waiting_count, waiting; /* in a generator */
	u16 line; /* in an instruction, of a u32: see RUNTIME_PLACE_LINE; 0: not asked */
};
/* The instructions have 32 bytes, not 4. */
#define RUNTIME_WIDE 16384u

/*
 * RUNTIME_CONTROL: frames are an array (Ruby). The caller's frame is behind a frame, up to the end
 * of the stack of values. The root's last step starts at a context, which begins with the stack's
 * address and the number of its values. The slots of a stack have 8 bytes.
 *
 * A frame has an environment. The slot at its address has flags (enum control_flag). The slots
 * below are that of the environment around it, and that of the method. A frame of a program has an
 * object, which leads to code. A frame of a function in C has a method, which has a definition. The
 * definition has the number of a name.
 */
#define RUNTIME_CONTROL 32768u
enum control_flag {
	CONTROL_C = 0x55550001,		/* a function in C */
	CONTROL_CB = 0x66660001,	/* a block in C, which is no frame */
	CONTROL_OUTERMOST = 0x79990001, /* another one, which each stack has */
	CONTROL_KIND = 0x7fff0001,
	CONTROL_FINISH = 0x20, /* the outermost frame of an activation of the loop */
	CONTROL_LOCAL = 2      /* no environment is around it */
};
/* The first words of objects, of all versions: what they are */
enum control_object {
	CONTROL_CLASS = 2,
	CONTROL_MODULE = 3,
	CONTROL_TEXT = 5,
	CONTROL_ARRAY = 7,
	CONTROL_TYPE = 0x1f,
	CONTROL_OUTSIDE = 1 << 13,  /* of a text: its bytes are elsewhere */
	CONTROL_INSIDE = 1 << 13,   /* of an array: its elements are in it */
	CONTROL_METHOD = 0x601a,    /* of a method, with its mask */
	CONTROL_VARIABLES = 0x201a, /* has the method, behind a word */
	CONTROL_INTERNAL_TYPE = 0xf01f
};
struct runtime_control {
	u32 names;	 /* address in the image, of an array of arrays of names; 0: not known */
	u16 environment; /* in a frame, at the place of names.tail */
	/* In a context, a pointer to the thread. There the id, which is the thread pointer. */
	u16 thread, thread_id; /* 0: the context is of this thread */
	u16 text_data;	       /* in a text: bytes that are not elsewhere */
	u16 definition, owner; /* in a method */
	u16 name;	       /* in a definition: the number << 4, or up to `operators` itself */
	u16 operators;
	u16 table; /* in code: an array that leads from instructions to elements of the last part */
	/*
	 * Functions that have another class are different functions, and the event has the name of
	 * the class. 0: no such difference. Offsets in a class: its name; the object of which it is
	 * the only class; a word of flags. There `class_mask` says that the name is for good.
	 */
	u16 class_name, class_object, class_flags;
	u32 class_mask;
	/* In code: the object of the code around it, whose name evaluated code has; 0: not asked */
	u16 parent;
	u32 single_mask; /* flag in the first word of a class that is of one object alone */
};
#define CONTROL_EVALUATED 6u /* the first u32 of code that eval() runs, in all versions */
/* The class in an event */
enum control_class {
	CONTROL_NO_CLASS,
	CONTROL_OF_OBJECTS, /* the method is one of the class's objects */
	CONTROL_OF_ITSELF   /* the method is one of the class itself */
};

/*
 * RUNTIME_SCOPES: the root leads to an interpreter, which has its innermost stack of scopes. Perl
 * calls a scope a context. A stack is an array of `node_bytes` each, and has the number of its last
 * scope. Each activation of the interpreter's loop ends with a scope that returns nowhere.
 *
 * A function is an object (SV), whose body leads to its code. Functions that share code are one.
 * The scope of an eval has no function, nor has that of the main program. Such a frame has the
 * address to which the scope returns, or that of the interpreter. The instruction of a frame is a
 * line: of the statement in which the next inner scope began.
 */
#define RUNTIME_SCOPES 65536u
/* The file of a statement is a variable. Its name is the file's, behind SCOPE_FILE_BEFORE. */
#define RUNTIME_FILE_NAMED 262144u
#define SCOPE_FILE_BEFORE  "_<"
struct runtime_scopes {
	u16 statement, stack, operation;	/* offsets in the interpreter */
	u16 first, last, previous;		/* in a stack; `last` is a u32 */
	u16 type, called_in, returns, function; /* in a scope; `type` is a byte */
	u16 line, file;				/* in a statement; `line` is a u32 */
	/* in an operation: a u16, whose lowest 9 bits have one of two values in a statement */
	u16 kind, kind_statement, kind_debugged;
	u16 start, root, name, package, code_file, flags; /* in the body of a function */
	u16 text, package_of, other; /* in the body of a variable, and in its values */
	u16 last_bucket, more;	     /* in the body of a package; more 0: behind the buckets */
	/* in what is there: the address of a text, or of an array of them; a u32 says which */
	u16 texts, texts_count;
};
/* In `named` of the event. Its parts are the texts of a name, of the package, and of a file. */
enum runtime_scope_kind {
	SCOPE_OF_NOTHING,
	SCOPE_OF_FUNCTION,
	SCOPE_OF_LEXICAL,  /* a function whose name is a lexical variable's */
	SCOPE_OF_NAMELESS, /* a function whose variable is gone */
	SCOPE_OF_EVAL,
	SCOPE_OF_MAIN
};

/*
 * RUNTIME_HEAPS: there is no list. A function has a frame on the stack, in code that the runtime
 * makes or in the code of its interpreter. The code lies in heaps. A heap has a map with a byte for
 * each segment: 0 where a block begins, or how many segments before it may begin. Behind the
 * block's head is a blob, which says how large its frames are. The code of a compiled function is
 * such a blob, too.
 */
#define RUNTIME_HEAPS 131072u

/*
 * Where a part of a blob is. HOTSPOT_POINTER: the u64 at `at` in the blob is the address.
 * HOTSPOT_OFFSET: the u32 there is an offset in the blob. With another base, the u32 is an
 * offset from the address that is at `base`.
 */
#define HOTSPOT_POINTER 0xffffu
#define HOTSPOT_OFFSET	0xfffeu
struct hotspot_part {
	u16 at, base;
};

struct runtime_hotspot {
	u64 inside; /* an address in the runtime's own code */
	/* Addresses in the image: of pointers to the heaps and to the interpreter's code, and of */
	u64 heaps, interpreter;
	u64 returns; /* the address to which the outermost function of an activation returns */
	/* Heaps are an array of pointers: offsets of a u32, how many, and of its address. */
	u16 heaps_count, heaps_data;		/* heaps_data 0: there is one heap, and no array */
	u16 heap_low, heap_high, heap_segments; /* offsets in a heap, of addresses */
	u16 heap_shift;				/* of a u32, the bits of a segment's size */
	u16 block_bytes;
	u16 code_start, code_bytes; /* offsets in that to which `interpreter` leads; a u32 */
	/* Offsets in a blob, whose first head_bytes are read; at most RUNTIME_HEAD_BYTES */
	u16 head_bytes;
	u16 size, complete, frame; /* of u32; the frame's size has 8 bytes as its unit */
	u16 complete_bytes;	   /* 2 or 4 */
	u16 name;		   /* of a pointer to the blob's name */
	u16 kind, kind_compiled; /* of a byte, and its value for functions; kind 0: see the name */
	u16 method, own; /* of pointers to the function, and to memory that no other blob has */
	struct hotspot_part code, scopes, places, places_end, functions;
	/* Offsets in a function, in its constant part and in that part's pool of constants */
	u16 constant, pool, constant_bytes, constant_size, code_size, name_index, signature_index;
	u16 pool_bytes, pool_class, class_name;
	u16 file_index,
		file_in_class; /* file_in_class 1: an offset in the class, not in the pool */
	u16 bytecode_below; /* a frame of the interpreter has its place so far below the pointer */
	u8 excluded;	    /* of the values of a byte in `scopes`: 1 from JDK 20 on */
	u8 has_pieces; /* 1: functions of virtual threads may lie in the heap (JDK 21 and later) */
	u8 pad[2];
};
#define HOTSPOT_PLACE_BYTES \
	16u /* of an element of `places`: u32 offset in the code, u32 in `scopes` */
#define RUNTIME_HEAD_BYTES 256u
#define HOTSPOT_FUNCTION   24u /* bytes of a frame below its pointer, where the function is */
#define HOTSPOT_SENDER	   8u  /* and where the caller's stack pointer is */

/*
 * RUNTIME_FRAMES: there is no list either. A function of JavaScript has a frame with a frame
 * pointer, in code of V8. Below the pointer are the function, and in the interpreter its place.
 * Objects have a map, which has their type. A pointer to an object is its address and 1; the upper
 * half of a word has a small number.
 */
#define RUNTIME_FRAMES (RUNTIME_HEAPS | RUNTIME_INDEX)

struct runtime_v8 {
	u64 inside; /* an address in the runtime's own code */
	/*
	 * Offsets in compiled code: of the address of its instructions, of their bytes (a u32), and
	 * of a table of places. V8_START_WITHIN: the instructions themselves are there.
	 */
	u16 code_start, code_size, code_table;
	/* Bytes before the instructions: of a map, and of a pointer to the code; 0: none */
	u16 code_map, code_pointer;
	u16 function_shared; /* offset in a function: that which all functions of the code share */
	/* Offsets in that, of which shared_bytes are read; at most RUNTIME_HEAD_BYTES */
	u16 shared_bytes;
	u16 shared_data, shared_name, shared_script;
	u16 shared_counts, shared_number; /* two u64 that tell functions of a script apart */
	u16 map_type;			  /* offset in a map, of a u16 */
	u16 type_shared, type_script, type_bytecode, type_scope, type_code,
		type_text_end;			       /* values of it */
	u16 script_source, script_name, script_number; /* offsets in a script */
	/* Offsets in a text: of a u32; of that to which it leads; of its characters; of small */
	u16 text_length, text_first, text_data, text_offset, text_resource; /* numbers */
	/*
	 * Words of a scope behind its map: the number of names, the first name, and the place in
	 * the text of the script. Place 0: behind the names. So many names are elsewhere.
	 */
	u16 scope_count, scope_first, scope_start, scope_names;
	u16 scope_module;		       /* the type of a module's scope */
	u16 scope_shift;		       /* bits below its flags */
	u16 bytecode_positions, bytecode_data; /* offsets in code of the interpreter */
	u16 code_bytecode;		       /* in compiled code, of the interpreter's code */
	u16 array_length, array_data;	       /* in an array of bytes */
	u16 scope_receiver; /* flag: a scope has a further word where `this` has a place */
	/*
	 * Offsets in an array about optimized code. It has the number of functions that are put
	 * in, an array that begins with them, and their places. It also has the function itself.
	 * own_shared: offset in an object that stands for the function; 0: there is none.
	 */
	u16 put_in_count, put_in_functions, own_function, own_shared, put_in_places;
	/*
	 * A frame of WebAssembly has this kind; 0: such functions have no names. A function of
	 * JavaScript that stands for one of them has data of this type. Offsets lead from the
	 * frame's object to the instance, to the module's object, and to its script. The script
	 * has an object that stands for the module. wasm_object 0: the frame has the instance.
	 * Offsets in the module: of a pointer to its bytes and their number, and of the root of
	 * the tree of its code. Offsets in code: of two u32, the bytes of instructions and the
	 * function's number in the module.
	 */
	u16 wasm_frame, type_export, wasm_object, wasm_module, wasm_script, wasm_native, wasm_bytes,
		wasm_tree, wasm_code_size, wasm_code_index;
};
#define V8_START_WITHIN 0x8000u
/*
 * As the address of part 1: the event is about compiled code of a function. `named` and `called_in`
 * tell which function. The last part is the code's table of places. With Sparkplug's code, part 0
 * is the interpreter's. With optimized code, part 2 tells where other functions are put in, and
 * part 0 has what part 2 has no room for. Another event has these functions (CODE_INLINED_AT). Its
 * fingerprint is larger by 1.
 */
#define V8_TOLD_BASELINE  16u
#define V8_TOLD_OPTIMIZED 32u
/* The same: the event is about the interpreter's code, whose instructions are the last part. */
#define V8_TOLD_BYTECODE 24u
/*
 * As the address of the last part: the event is about a function of WebAssembly. The function's
 * place is its number in the module, and its name is UTF-8.
 */
#define V8_TOLD_WASM 40u
/* How the event has texts: lengths, and whether their characters have two bytes. */
#define V8_NAME_LENGTH(named) ((named)&0x7fffu)
#define V8_NAME_IS_WIDE	      0x8000u
#define V8_FILE_SHIFT	      16u
#define V8_PREFIX_SHIFT	      32u /* of what is before the last dot of a name */
#define V8_TABLE_SHIFT	      48u /* bytes of the table of places, at most: */
#define V8_TABLE_BYTES	      0xffffu
#define V8_CHUNK	      4096u /* characters of a script, of whose newlines an event tells */

struct runtime_config {
	struct runtime_root
		root[2]; /* of the innermost frame; the second if the first leads to 0 */
	u64 code_mask;	 /* of a pointer to code, whose other bits are tags */
	u32 border_mask, border_value; /* a border: the masked u32 at `border` is this value */
	u16 node_bytes;		       /* of a frame, at most RUNTIME_NODE_BYTES. Offsets in it: */
	u16 previous, code, instruction, border;
	u16 anchor_previous; /* offset in an anchor */
	u32 flags;	     /* RUNTIME_* */
	/* Offsets in code: of the first instruction, of u32 and a u64 that tell functions apart. */
	u16 instructions;
	u16 fingerprint[4], name;
	/*
	 * BPF tells of new code: parts at pointers at these offsets in code, CODE_ITSELF or
	 * CODE_NAMES.
	 */
	u16 part[RUNTIME_PARTS];
	u16 last_size;	  /* offset in the last part of a u64, the size of what follows; 0: none */
	u16 copies, copy; /* RUNTIME_COPIES */
	u16 holder;	  /* RUNTIME_AT_HOLDER */
	/* RUNTIME_OBJECT: the masked u32 at `object_type` in the object tells that it has code */
	u16 object_type, object_code;
	u32 object_mask, object_value;
	/* A frame of the program: the masked u32 at `shown` in a frame has this value. */
	u32 shown_mask, shown_value;
	u16 shown;
	/*
	 * RUNTIME_POINTED: offset in code of a u32, how many instructions of 4 bytes there are. At
	 * a leaf a register may point to one, which is newer than that of the frame. 0: none.
	 */
	u16 count;
	u16 last_count; /* offset in code of a u32, how many elements the last part has; 0: none */
	u16 last_unit;	/* bytes of one; 0: the last part goes to the end of the code's bytes */
	u32 call_mask, call_value; /* RUNTIME_BORDER_CALLER */
	union {
		struct {
			struct runtime_state state;
			union {
				struct runtime_names names;	/* RUNTIME_NAMES */
				struct runtime_owner owner;	/* RUNTIME_OWNED */
				struct runtime_control control; /* RUNTIME_CONTROL */
				struct runtime_scopes scopes;	/* RUNTIME_SCOPES */
			};
			struct runtime_stack stack; /* RUNTIME_STACKED */
			union {
				struct runtime_trace trace; /* the same */
				/*
				 * RUNTIME_AT_SCAN of other runtimes: the loop that runs functions,
				 * at an address in the image. Each of its frames has a border.
				 */
				struct {
					u64 loop, loop_bytes;
				};
			};
		};
		struct runtime_hotspot hotspot; /* RUNTIME_HEAPS */
		struct runtime_v8 v8;		/* RUNTIME_FRAMES */
	};
};
_Static_assert(sizeof(struct runtime_config) == 312, "struct runtime_config");

/* ---- records in the sample rings ------------------------------------------------------------
 *
 * Each CPU has a ring. BPF writes the records in place and never reads them back; the worker reads
 * them. A position is a byte count that only grows; its place is position & (ring bytes - 1). A
 * record never wraps: with fewer than RECORD_BYTES_MAX bytes before the end, the record starts at
 * the ring's next beginning. The commit word, record_commit(position, bytes), is stored last: so
 * bytes of an earlier lap never pass for a record.
 */
#ifndef RECORD_FRAMES_MAX
#define RECORD_FRAMES_MAX 1024u
#endif
#ifndef RECORD_KERNEL_FRAMES_MAX
#define RECORD_KERNEL_FRAMES_MAX 127u
#endif
#ifndef RECORD_BYTES_MAX
#define RECORD_BYTES_MAX 29952u
#endif
#ifndef RECORD_RUNTIME_WORDS_MAX
#define RECORD_RUNTIME_WORDS_MAX 2304u
#endif
#ifndef RING_BYTES_MIN
#define RING_BYTES_MIN (1u << 18)
#endif
#ifndef RING_BYTES_MAX
#define RING_BYTES_MAX (1u << 22)
#endif

enum sample_reason {
#define X(name, class, help) REASON_##name,
#include "bpf/counters.def"
#undef X
	REASON_COUNT
};

#define RECORD_FLAG_KERNEL_MODE 1u /* the sample hit kernel mode */
#define RECORD_FLAG_KERNEL_CUT	2u /* the kernel stack did not fit or could not be read */
#define RECORD_FLAG_LIST_FIRST	4u /* the runtime's words come before the user frames */
#define RECORD_FLAG_OFF_CPU	8u /* the thread leaves its CPU; the last word is an OFF_WORD */

struct record {
	u64 commit;
	u64 time;		 /* CLOCK_MONOTONIC, ns */
	u64 generation;		 /* of the process, 0 for kernel threads */
	u32 pid, tid;		 /* process and thread, initial pid namespace */
	u8 comm[ABI_COMM_BYTES]; /* the thread's name at this moment, NUL padded */
	u16 cpu;
	u16 kernel_frames;
	u16 user_frames;
	u8 reason; /* enum sample_reason: END or CUT */
	u8 flags;  /* RECORD_FLAG_* */
	u16 runtime_words;
	u8 runtime; /* enum runtime_result */
	u8 context; /* enum context_result */
	u16 label_words;
	u8 labels; /* enum labels_result */
	u8 pad;
	/*
	 * u64 frame[kernel_frames + user_frames], leaf first; u64 runtime[runtime_words];
	 * CONTEXT_TAKEN: u64 context[CONTEXT_WORDS]; u64 labels[label_words];
	 * RECORD_FLAG_OFF_CPU: u64 off
	 */
};
_Static_assert(sizeof(struct record) == 64, "record head");
#define OFF_WORDS 1u
#define RECORD_WORDS_MAX                                                                           \
	(RECORD_FRAMES_MAX + RECORD_KERNEL_FRAMES_MAX + RECORD_RUNTIME_WORDS_MAX + CONTEXT_WORDS + \
	 GO_LABELS_WORDS + OFF_WORDS)
_Static_assert(sizeof(struct record) + 8 * RECORD_WORDS_MAX <= RECORD_BYTES_MAX,
	       "a full record fits");

/* Returns the number of words behind the head, up to those of labels. */
static inline u64 record_label_words_end(const struct record *record)
{
	u64 words = (u64)record->kernel_frames + record->user_frames + record->runtime_words +
		    record->label_words;

	return record->context == CONTEXT_TAKEN ? words + CONTEXT_WORDS : words;
}

/* Returns the number of words behind the head. */
static inline u64 record_words(const struct record *record)
{
	u64 words = record_label_words_end(record);

	return record->flags & RECORD_FLAG_OFF_CPU ? words + OFF_WORDS : words;
}

static inline u64 record_commit(u64 position, u64 bytes)
{
	return position << 16 | bytes; /* bytes is a multiple of 8, never 0 */
}

/*
 * A user frame has the address in the low 48 bits (user addresses are below 2^47). FRAME_EXACT
 * marks a pc (of a leaf, or of code that a signal interrupted); other addresses are return
 * addresses. FRAME_GUESSED marks a frame to which the walk guessed the way. With FRAME_BY_POINTER
 * the guess follows the frame pointer, and the leaf's stack pointer points to no return address.
 *
 * A kernel frame has an offset in the low 32 bits: from the start of kernel text or of a module.
 * The number of the range is above. Number 0 is the kernel, and n is the n-th range of the kernel
 * symbol file. In 0xffff, which is no range, the offset is 0. In 0xfffe the offset is the id of a
 * name (struct event_name). No frame has an absolute kernel address.
 */
#define FRAME_EXACT		    (1ull << 63)
#define FRAME_GUESSED		    (1ull << 62)
#define FRAME_BY_POINTER	    (1ull << 61)
#define FRAME_ADDRESS(frame)	    ((frame)&0xffffffffffffull)
#define KERNEL_FRAME(range, offset) ((u64)(range) << 32 | (u32)(offset))
#define KERNEL_FRAME_RANGE(frame)   ((u32)((frame) >> 32) & 0xffff)
#define KERNEL_FRAME_OFFSET(frame)  ((u32)(frame))
#define KERNEL_RANGE_UNKNOWN	    0xffffu
#define KERNEL_RANGE_NAMED	    0xfffeu
#ifndef KERNEL_RANGES_MAX
#define KERNEL_RANGES_MAX 512u
#endif

/*
 * Words of a runtime's list, innermost frame first. A frame is two words. The first one has the
 * address of the code. The second one has the fingerprint in its low half and the offset of the
 * instruction, or its index, in the high half. A border is one word. The frames between it and the
 * border before belong to the user frame of this number, or to none. No word looks like an address
 * of the kernel.
 */
#define RUNTIME_WORD_FRAME     (1ull << 61)
#define RUNTIME_WORD_BORDER    (1ull << 60)
#define RUNTIME_BORDER_NOWHERE 0xffffu
#define RUNTIME_OFFSET_NONE    0x7fffffffu
/*
 * RUNTIME_OWNED: an instruction behind those that an event tells of (CODE_LAST_BYTES) has its line
 * in place of the offset. Other offsets are even.
 */
#define RUNTIME_PLACE_LINE     1u
#define RUNTIME_PLACE_SHIFT    1u
#define RUNTIME_CODE_ELSEWHERE 1u /* as code: functions of a virtual thread are not on the stack */

enum runtime_result {
	RUNTIME_NONE_MET, /* no frame of an interpreter, or one that is not known */
	RUNTIME_WHOLE,
	RUNTIME_NOT_GRANTED,
	RUNTIME_DENIED,	   /* by a rule about the process's cgroup */
	RUNTIME_OVERDRAWN, /* as much as the grant allows was taken: grant.listed */
	RUNTIME_NOT_NOW,   /* a kept sample, whose process goes on meanwhile */
	RUNTIME_NO_ROOT,   /* the thread runs no code of the program */
	RUNTIME_CUT_READ,
	RUNTIME_CUT_DEPTH,
	RUNTIME_CUT_BUDGET
};

/*
 * A stack that was taken as its thread left the CPU. The record's time is that moment. The word:
 *   bits  0-31  the probability with which the stack was taken, in 2^-32; OFF_CERTAIN: always
 *   bits 32-47  number of the system call that the thread is in, or OFF_NO_CALL
 *   bits 48-55  enum off_state
 * EVENT_WAIT says when the thread ran again.
 */
#define OFF_CERTAIN 0xffffffffu
#define OFF_NO_CALL 0xffffu
enum off_state {
	OFF_PREEMPTED, /* it could run on */
	OFF_SLEEPS,    /* interruptible by signals */
	OFF_WAITS,     /* not interruptible */
	OFF_IO,	       /* the kernel says that it waits for input or output */
	OFF_STOPPED,   /* by a signal or a tracer */
	OFF_STATES
};
#define OFF_WORD(probability, call, state) \
	((u64)(u32)(probability) | (u64)((call)&0xffff) << 32 | (u64)(state) << 48)
#define OFF_PROBABILITY(word) ((u32)(word))
#define OFF_CALL(word)	      ((u32)((word) >> 32) & 0xffff)
#define OFF_STATE(word)	      ((u32)((word) >> 48) & 0xff)

/* Which samples are taken. */
enum off_mode {
	OFF_MODE_NONE, /* of what the CPUs do */
	OFF_MODE_ONLY, /* of threads that leave a CPU */
	OFF_MODE_WALL  /* both */
};

/* How often such stacks are taken, in ns: constants that the loader sets. */
struct off_limits {
	u64 interval; /* between two of a thread, at least, unless the thread leaves less often */
	u64 window;
	u64 budget; /* the time of a CPU that all stacks of a window may take */
};

struct kernel_range {
	u64 start, end;
	u64 passing; /* 1: the code in this range comes and goes (programs of BPF) */
};

/*
 * The kernel's own unwind tables (ORC), which bpf/orc.bpf.h reads. rows = 0: there are none, or the
 * kernel hides them.
 */
#define KERNEL_ORC_ADDRESS_BYTES 4u
#define KERNEL_ORC_ROW_BYTES	 6u
#define KERNEL_ORC_ROWS_BITS	 20 /* there are fewer than 2^20; 484,000 in a large kernel */
struct kernel_orc {
	u64 addresses; /* of the first of `rows` s32: from its own place to the row's text */
	u64 first_row;
	u32 rows;
	u32 sp;			  /* BPF finds it: the number of SP in a row, or 0 */
	u64 text_start, text_end; /* the loader sets both */
	u64 replaced[2];	  /* what a tracer has put in place of return addresses; 0: none */
	u64 function;		  /* the first row of this one has SP */
};

/*
 * The epoch counts workers, from 0. With each epoch, each CPU's positions begin anew. So a worker
 * knows where its records begin, whatever the worker before wrote, and no older record passes for a
 * new one.
 */
#define RING_START(epoch) ((u64)(epoch) << 40)

/* The identity of an object, from the broker; all 0: none. */
struct journal_object {
	u64 device, inode, size, change_time;
};

/*
 * A worker's note to the next worker: the object that is being parsed, and the objects with which
 * earlier workers ended. BPF does not read the note. The note is bounded and may be wrong: all it
 * can do is keep objects from being parsed.
 */
#define JOURNAL_QUARANTINED 8
struct journal {
	struct journal_object parsing, quarantined[JOURNAL_QUARANTINED];
};

/*
 * The same about accounts: what workers have read of stints whose places others have taken. The
 * filter of names leaves the second part of that out. All the note can do is falsify sums.
 */
#define ACCOUNT_NOTE_WORDS 32u
struct account_note {
	u64 read[ACCOUNT_NOTE_WORDS], unwanted[ACCOUNT_NOTE_WORDS];
};

/* How far the worker has read each ring. Only the worker writes; a map of its own, page aligned. */
struct ring_tails {
	u64 tail[ABI_MAX_CPUS];
	u64 next_look; /* CLOCK_MONOTONIC, ns: until then no event has to wake the worker */
	struct journal journal;
	struct account_note account_note;
};

/* Helpers that the object for old kernels uses where the kernel has them. */
#define NEWER_TASK_PT_REGS 1u /* and bpf_get_current_task_btf() */
#define NEWER_SNPRINTF	   2u

/* ---- the choice of samples: constants that the loader sets --------------------------------- */

enum filter_mode {
	FILTER_ALL,
	FILTER_TARGETS,
	FILTER_CGROUP
};

#define FILTER_NO_KERNEL 1u	     /* no kernel stacks, no samples without a user stack */
#define FILTER_NO_USER	 2u	     /* no user stacks, no samples taken in user mode */
#define FILTER_UID_NONE	 0xffffffffu /* INVALID_UID of the kernel */
#define FILTER_PLACES	 6u

/*
 * The samples that the command line leaves out. `hides` and `uid` filter samples, which are counted
 * as filtered; the exclusions deny processes.
 */
struct sample_filter {
	u64 excluded_cgroup[FILTER_PLACES]; /* ids, as DENY_CGROUP; 0 ends the list */
	/*
	 * effective user ids that are wanted; FILTER_UID_NONE ends the list; empty: all are wanted
	 */
	u32 uid[FILTER_PLACES];
	u32 hides;    /* FILTER_NO_*: which stacks and samples no record shows */
	u32 excludes; /* DENY_BIT() of the kinds of exclusion in use */
};

/* Value in the map of targets. */
enum target_role {
	TARGET_EXCLUDED,
	TARGET_SAMPLED
};

/* ---- denied processes: set by the loader before the first sample --------------------------- */

enum deny_kind {
	DENY_UID,    /* first: real or effective user id, as the initial user namespace has it */
	DENY_CGROUP, /* first: cgroup v2 id, of the process's cgroup or of one above */
	DENY_COMM,   /* first, second: bytes of a prefix, NUL padded */
	DENY_EXECUTABLE, /* first: device as the kernel numbers it, second: inode */
	DENY_PROCESS,	 /* no key: TARGET_EXCLUDED */
	/* Denies no process, but walks over lists: the grant of a family is not for this cgroup. */
	DENY_MEMORY_CGROUP, /* first: as DENY_CGROUP */
	DENY_KINDS
};
/*
 * Verdicts in struct generation: the number of the deny rule that holds, from 1 on, or a bit. All
 * but the last bit hold until the process's next exec.
 */
#define DENIED_RULE	  0xffffu
#define DENIED_OTHERWISE  (1u << 30) /* an excluded cgroup, or more levels than are looked at */
#define DENIED_BY_PROCESS (1u << 31) /* whatever the process and its children execute */
struct deny_key {
	u64 kind, first, second;
};
#define DENY_BIT(kind)	   (1u << (kind))
#define DENY_KEYS_MAX	   320u
#define DENY_DEVICE_MINORS 20 /* bits: MINORBITS of include/linux/kdev_t.h */

#define MM_OF_EXEC 1ull /* no address */

/*
 * The identity of a process: set at fork, exec and first sight, deleted when the last thread exits.
 */
struct generation {
	u64 number; /* the generation */
	u64 mm;	    /* its address space, or MM_OF_EXEC; a task with another mm is in an exec */
	u64 born;   /* CLOCK_MONOTONIC, ns */
	u64 family; /* generation of the first ancestor with this program: key of cached rules */
	u64 base_number; /* fork: the parent, whose mappings hold until others are published */
	u32 base_pid;
	u32 epoch;  /* of the worker that was told of this process */
	u32 denied; /* DENIED_* */
	/*
	 * 1: the process was denied after a reading of CPU time had counted it. Readings go on
	 * counting it, and its denied samples are denied_counted.
	 */
	u8 counted;
	/* 1: a kept sample of the process waited in vain, and the mappings were not found since */
	u8 unkept;
	u16 located; /* located_by() of the worker that knows the path of its cgroup */
};

/* So long BPF keeps a sample of a process whose mappings are not published. */
#define KEPT_FOR_NS    200000000ull
#define KEPT_SLOTS_MIN 8u   /* a CPU has so many places for them, */
#define KEPT_SLOTS_MAX 128u /* and more at high rates: as many as it samples in 100 ms */

/* ---- life of processes, in a BPF ring buffer --------------------------------------------- */

enum event_kind {
	/*
	 * A process from before the start, at its first sample. A process that the command line
	 * names is announced earlier, with an uncertain cgroup.
	 */
	EVENT_SEEN = 1,
	EVENT_FORK = 2, /* generation of the child, which has the mappings of parent_* */
	EVENT_EXEC = 3, /* a new program, whose segments are mapped already */
	EVENT_EXIT = 4, /* last thread gone, or denied from now on */
	/*
	 * A denied program is being started: its records of mappings and names follow. No parent,
	 * no cgroup. EXIT tells that the program has started.
	 */
	EVENT_DENIED = 5,
	EVENT_NAME = 6,	  /* a struct event_name, of no process */
	EVENT_CGROUP = 7, /* a struct event_cgroup, of no process */
	EVENT_MOVED = 8,  /* a process is in another cgroup from now on */
	/* A process from before the start, which no sample has met. parent_generation: CPU time */
	EVENT_FOUND = 9,
	EVENT_WAKE = 10, /* of no process: records wait for the worker */
	/* A sample of a process waits for KEPT_FOR_NS until its mappings are published. */
	EVENT_WAITS = 11,
	EVENT_CODE = 12, /* a struct event_code. parent_generation: of the family */
	EVENT_WAIT = 13, /* a struct event_wait: a thread whose leaving was sampled runs again */
};

#define CGROUP_ROOT  1u /* the id of the root, where processes are that no cgroup has */
#define CGROUP_OUTER 5u /* levels below the root */

struct event {
	u64 time; /* CLOCK_MONOTONIC, ns */
	u64 generation;
	u64 parent_generation; /* FORK; SEEN: of the family; FOUND: CPU time so far, ns */
	u32 kind;
	u32 pid;
	u32 parent_pid; /* FORK */
	/*
	 * The rest is about the current task at this moment; FOUND, MOVED: about the process. MOVED
	 * has the cgroup alone. CGROUP: the id of that cgroup. Events of other kinds than SEEN,
	 * EXEC, FOUND, MOVED, NAME and CGROUP have EVENT_SHORT_BYTES, and the rest counts as 0.
	 */
	u32 uid;     /* in the initial user namespace; short events: 0 */
	u64 cgroup;  /* v2 id */
	u32 session; /* its leader's pid; within a cgroup other than the root 0 is allowed */
	/*
	 * The cgroups around the task, from the one below the root to its own; 0: none. Low halves
	 * of ids, which no two cgroups share at a time.
	 */
	u32 outer[CGROUP_OUTER];
};
#define EVENT_SHORT_BYTES 40u
_Static_assert(sizeof(struct event) == 72, "struct event");
_Static_assert(__builtin_offsetof(struct event, cgroup) == EVENT_SHORT_BYTES, "struct event");

/*
 * The kernel's name of a function in no range, which belongs to a module or a program of BPF that
 * came later. "function [module]", NUL padded, cut to the size of the field.
 */
#define EVENT_NAME_WORDS 12u
struct event_name {
	struct event event; /* generation: the id in frames, 1 to 2^32 - 1; sent repeatedly */
	u64 name[EVENT_NAME_WORDS];
};
_Static_assert(sizeof(struct event_name) == 168, "struct event_name");

/* The party that ended a wait. */
enum waker {
	WAKER_UNKNOWN,	 /* no wake-up was seen, as of a thread that was preempted */
	WAKER_THREAD,	 /* the thread that ran there */
	WAKER_INTERRUPT, /* an interrupt: of a timer, a device or the network */
	WAKER_HIDDEN,	 /* a thread that a deny rule holds for */
	WAKERS
};

/* A thread runs again. `time` of the event is that moment, and `pid` the thread's process. */
struct event_wait {
	struct event event;
	u64 began; /* time of the record */
	u64 left;  /* CLOCK_MONOTONIC, ns: from when the wait counts, without the sampler's time */
	u64 woken; /* CLOCK_MONOTONIC, ns; 0: WAKER_UNKNOWN */
	u32 tid;
	u32 waker;		  /* enum waker */
	u32 waker_pid, waker_tid; /* WAKER_THREAD; else 0 */
	u64 lost_at; /* CLOCK_MONOTONIC, ns: the last time that such an event was lost; 0: none */
	u8 waker_name[ABI_COMM_BYTES]; /* the same: of the thread, NUL padded */
};
_Static_assert(sizeof(struct event_wait) == 136, "struct event_wait");

/*
 * The names that make up the path of a cgroup, told at the first sample of a process there, to each
 * worker at least once. Users choose the names: any byte but '/' and NUL. The root has no name.
 */
#define CGROUP_LEVELS	  12u
#define CGROUP_NAME_BYTES 128u
struct event_cgroup {
	struct event event; /* cgroup: the id */
	u32 levels;	    /* how many names there are */
	u32 cut;	    /* 1: the names of further cgroups above are left out */
	/* innermost first; with a NUL; a longer name is cut, a name that was not read is empty */
	char name[CGROUP_LEVELS][CGROUP_NAME_BYTES];
};
_Static_assert(sizeof(struct event_cgroup) == 1616, "struct event_cgroup");

/*
 * Code of a runtime that no event has told of lately: bytes of a process that has a grant. A part
 * is what a pointer of runtime_config leads to, cut at memory that cannot be read. Where the last
 * part is short, the event has EVENT_CODE_SHORT_BYTES.
 */
#define CODE_PART_1	256u
#define CODE_PART_2	512u
#define CODE_PART_3	896u
#define CODE_SHORT_END	2048u
#define CODE_BYTES	(CODE_SHORT_END + 8192u)
#define CODE_LAST_BYTES (CODE_BYTES - CODE_PART_3)
struct event_code {
	struct event event;
	u64 code;
	u64 fingerprint; /* as in the words of a frame: 32 bits */
	u64 marked;	 /* an address of the interpreter's code */
	u64 address[RUNTIME_PARTS];
	u64 bytes[RUNTIME_PARTS];
	u64 name;      /* address of the text that a caller has as its name; 0: none */
	u32 called_by; /* the caller's instruction; 0: not known */
	u32 called_in; /* the u32 at runtime_names.tail in the caller's frame */
	/*
	 * Where names are packed: enum runtime_source << 56 | index << 32 | number of the
	 * instruction that has the index. 0: `name` is the text's
	 */
	u64 named; /* RUNTIME_CONTROL: enum control_class */
	/* RUNTIME_CONTROL: the address of a table; its bytes, and where they are in `data` */
	u64 table;
	u32 table_bytes, table_at;
	u8 text[RUNTIME_TEXT_BYTES]; /* what is there */
	u8 data[CODE_BYTES];	     /* part 0, from CODE_PART_1 on part 1, and so on */
};
#define EVENT_CODE_SHORT_BYTES (sizeof(struct event_code) - CODE_BYTES + CODE_SHORT_END)
_Static_assert(sizeof(struct event_code) == 10504, "struct event_code");
/* RUNTIME_CONTROL: the table is at the end of the event, behind less of the last part. */
#define CODE_TABLE_SHORT 288u
#define CODE_TABLE_LONG	 1168u
/* An event about a place in compiled code (RUNTIME_HEAPS) ends here. */
#define CODE_TINY_END	      512u
#define CODE_INLINED_AT	      8u /* as an address: of struct told_frame of the functions there */
#define EVENT_CODE_TINY_BYTES (sizeof(struct event_code) - CODE_BYTES + CODE_TINY_END)

/*
 * The value of a family that has a grant. The broker makes it, and BPF alone changes it.
 *
 * An account bounds what comes out of the family's memory. It is the time until which all that was
 * taken is paid for (CLOCK_MONOTONIC, ns): each byte costs some ns. A new account is 0. Payments
 * that were not used are kept, up to the bytes that may be taken at once.
 *
 *   told    bytes of events about code: 4 MiB at once, 0.98 MB a second (58.6 MB a minute)
 *   listed  bytes of words of lists, and 8 for each list: 32 MiB at once, 15.6 MB a second
 *           (937.5 MB a minute)
 *
 * A grant of GRANT_OF_CONTEXT is for the contexts of threads alone: `told` counts CONTEXT_COST for
 * each look.
 *
 * CPUs that look at once may each take one more event or list.
 */
struct grant {
	u64 told, listed;
	u32 uid;      /* of the process that was looked at */
	u32 stranger; /* 1: it was outside the first process's user namespace */
};
#define GRANT_OF_CONTEXT   (1ull << 63) /* in a key, with the family: no family has this bit */
#define CONTEXT_COST	   32u
#define GRANT_TOLD_BYTES   (4u << 20) /* at once */
#define GRANT_TOLD_NS	   1024u      /* for a byte */
#define GRANT_LISTED_BYTES (32u << 20)
#define GRANT_LISTED_NS	   64u
#define GRANTS_MAX	   1024u
#define GRANTS_USER	   (GRANTS_MAX / 4) /* of one user */
#define GRANTS_STRANGERS   (GRANTS_MAX / 2) /* of all strangers: they may have many user ids */

#ifndef EVENT_RING_BYTES
#define EVENT_RING_BYTES (1u << 18)
#endif

/* ---- accounts: CPU time, written by bpf/sched.bpf.c, mapped by the worker to be read --------
 *
 * A stint is a thread's time in one cgroup under one verdict, and has a place of its own. Words of
 * a place count up while the stint lasts, and stay when the stint has ended, until another stint
 * takes the place. `number` is 0 while that happens, and then a number that no stint had before. A
 * reader thus looks at the number before and after the words.
 */
#ifndef ACCOUNTS
#define ACCOUNTS 16384u /* places */
#endif

/* Kinds of places. Each CPU has one place of each kind but the first. */
enum account_kind {
	ACCOUNT_THREAD,
	ACCOUNT_IDLE,
	ACCOUNT_OTHERS,	  /* processes that the command line does not name */
	ACCOUNT_DENIED,	  /* processes that a rule of the policy denies */
	ACCOUNT_UNLISTED, /* threads without a place, or whose switches no hook has seen */
	ACCOUNT_KINDS,
};
#define ACCOUNT_CPU_KINDS	 (ACCOUNT_KINDS - 1)
#define ACCOUNT_PLACE(cpu, kind) ((cpu)*ACCOUNT_CPU_KINDS + (kind)-1)
#define ACCOUNT_NO_THREAD	 0xffffffffu
#define ACCOUNT_NO_PLACE	 0xffffffffu /* the thread gets one when it leaves the CPU */

enum account_figure {
#define F(name, member, help) FIGURE_##name,
#include "bpf/figures.def"
#undef F
	FIGURES
};

enum account_counter {
#define C(name, type, config) ACCOUNT_COUNTER_##name,
#include "bpf/account_counters.def"
#undef C
	ACCOUNT_COUNTERS
};

struct account {
	u64 number; /* of the stint; 0: none */
	u64 start;  /* of the process, CLOCK_MONOTONIC, ns */
	u64 cgroup;
	u32 pid, thread;
	u32 ended;		   /* flag: nothing is added any more */
	u32 kernel;		   /* flag: a thread of the kernel */
	char name[ABI_COMM_BYTES]; /* of the process */
	char thread_name[ABI_COMM_BYTES];
	u64 ns;				   /* CPU time without interrupts */
	u64 switches;			   /* times that the thread left a CPU */
	u64 softirqs;			   /* that interrupted it */
	u64 first[FIGURES], last[FIGURES]; /* the kernel's own, when the stint began and last */
	u64 counter[ACCOUNT_COUNTERS];	   /* where the CPUs have them; else 0 */
};

#define ACCOUNT_SOFTIRQS 10u /* NR_SOFTIRQS of include/linux/interrupt.h */
#define ACCOUNT_HARDIRQS 64u /* by number; the last place is for all others */

/* A CPU's time is not the thread's there. */
#define ACCOUNT_IN_SOFTIRQ 1u
#define ACCOUNT_IN_HARDIRQ 2u

struct account_time {
	u64 ns, count;
};

/* A counter when it was read last. While others have its hardware, it does not run. */
struct account_reading {
	u64 value;
	u64 enabled, running; /* ns */
};

#define ACCOUNT_RECENT 64u /* a power of two */

struct account_cpu {
	u64 begin;   /* CLOCK_MONOTONIC, ns; 0: this CPU has had no event yet */
	u64 since;   /* all time until here is charged: since - begin is the sum of all that is */
	u64 pending; /* ns of the running thread that are not in its place yet */
	u64 pending_softirqs;
	u32 place;	      /* of the running thread, or ACCOUNT_NO_PLACE */
	u32 context;	      /* ACCOUNT_IN_*; 0: the thread */
	u32 softirq, hardirq; /* the vector, in these contexts */
	u32 pid, thread;      /* of the running thread */
	u32 busy;	      /* flag: BPF changes the words above */
	u32 counters;	      /* bit of each counter that this CPU has */
	u64 switches;
	u64 stints;	 /* that this CPU has numbered */
	u64 lost_places; /* stints for which there was no place */
	u64 lost_tasks;	 /* stints for which the table of tasks had no room */
	u64 skipped;	 /* interrupts that came while `busy` */
	u64 missed;	 /* threads that were there without a switch to them */
	/* Sums of stints whose places others have taken since, at this CPU. */
	u64 gone_ns, gone_switches, gone_softirqs, gone[FIGURES], gone_counter[ACCOUNT_COUNTERS];
	struct account_reading reading[ACCOUNT_COUNTERS];
	struct account_time softirqs[ACCOUNT_SOFTIRQS];
	struct account_time hardirqs[ACCOUNT_HARDIRQS];
	/* The places that this CPU has changed last, for a reader that has read them before. */
	u64 changes; /* number of them so far; the next one goes to changes % ACCOUNT_RECENT */
	u32 recent[ACCOUNT_RECENT];
	u32 kernel; /* flag: the running thread is one of the kernel, and not idle */
	u32 pad;
};
_Static_assert(sizeof(struct account) % 8 == 0, "struct account");
_Static_assert(sizeof(struct account_cpu) % 64 == 0, "CPUs share no line");

/* ---- counters: one row per CPU, written by BPF, mapped by the loader alone ----------------- */

struct counters {
	u64 samples; /* after the filter; = sum of reason[] */
	u64 reason[REASON_COUNT];
	u64 events_lost;    /* life events for which the ring had no room */
	u64 processes_lost; /* forks and execs for which the table of generations had no room */
	u64 user_frames, kernel_frames;
	u64 cache_trail, cache_text, cache_miss;
	u64 fallback_frames; /* user frames found by frame pointer or leaf fallback */
	u64 bytes;	     /* written to the ring */
	u64 denied;	     /* events in denied processes, which are not among the samples */
	u64 filtered; /* events that sample_filter or a rest left out, not among the samples */
	u64 denied_counted; /* part of denied: in processes that readings of CPU time count */
	/*
	 * Samples that were kept, and now have their record or are lost. While a sample is kept, it
	 * counts as cut_not_ready, perhaps of another CPU: take this number from that sum.
	 */
	u64 kept_done;
	u64 off_taken;	     /* part of samples: threads that left the CPU */
	u64 off_skipped;     /* such threads for which the call of the sampler failed */
	u64 off_no_room;     /* those for which the table of waits had no room */
	u64 off_events_lost; /* EVENT_WAIT for which half of the ring had no room */
	u64 pad[64 - 18 - REASON_COUNT];
};
_Static_assert(sizeof(struct counters) == 512, "struct counters");

/* Result of the task iterator: CPU time of all sampled tasks, alive and gone. */
struct task_runtime {
	u64 nanoseconds;
	u64 tasks; /* those whose CPU time is counted */
};

#endif
