/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The walk over one user stack. Pure C: compiled into the BPF program and, unchanged, into host
 * tests. The includer of bpf/walk/step.bpf.h supplies the environment that step.bpf.h declares.
 *
 * The worker, which writes the tables, may have been taken over: the walk trusts nothing in them.
 * Indices are masked and loops bounded. The stack pointer only rises, except at a signal frame and
 * where Go changes stacks (go.bpf.h). The walk reads memory within WALK_REACH of the stack pointer,
 * in aligned words. The walk emits a return address only if it is a user address behind a call
 * instruction.
 */
#ifndef KEYHOLE_BPF_WALK_WALK_BPF_H
#define KEYHOLE_BPF_WALK_WALK_BPF_H

#include "bpf/abi.h"

/*
 * Keeps a loop a loop. An instruction costs a load of the object much more than a pass costs the
 * verifier.
 */
#ifdef __bpf__
#define NOT_UNROLLED _Pragma("clang loop unroll(disable)")
#else
#define NOT_UNROLLED
#endif

/* DWARF numbers (System V x86-64 psABI, figure 3.36) */
enum walk_register {
	REG_RAX,
	REG_RDX,
	REG_RCX,
	REG_RBX,
	REG_RSI,
	REG_RDI,
	REG_RBP,
	REG_RSP,
	REG_R8,
	REG_R9,
	REG_R10,
	REG_R11,
	REG_R12,
	REG_R13,
	REG_R14,
	REG_R15
};

#define WALK_CALLEE_SAVED                                                                \
	(1u << REG_RBX | 1u << REG_RBP | 1u << REG_RSP | 1u << REG_R12 | 1u << REG_R13 | \
	 1u << REG_R14 | 1u << REG_R15)
#define WALK_ALL_REGISTERS 0xffffu

#define WALK_WINDOW_BYTES 2048u
#define WALK_SLOTS_BYTES  128u	       /* a rule's save slots lie in [CFA - 128, CFA) */
#define WALK_REACH	  (8ull << 20) /* bytes above the stack pointer that a frame may span */
#define WALK_RED_ZONE	  128u /* below the stack pointer; hand-written code keeps its CFA there */
#define WALK_SWITCHES	  8u   /* that may lower the stack pointer: of signals, of Go, pieces */
#define WALK_ADDRESS_END  (1ull << 47)

/*
 * The walk looks at the clock after an amount of work. The unit of work is a frame with a cached
 * rule and its words in the window (0.1 us). The walk looks after WALK_CLOCK_FRAMES such frames. It
 * looks at every other read of the stack. A read takes up to 1.5 us where lines and page tables are
 * cold, and a frame with a cached rule may do three. There is also a look after each frame that
 * came from tables or from the frame pointer, which takes up to 5 us.
 */
#define WALK_CLOCK_FRAMES 16u
#define WALK_READ_FRAMES  7u
#define WALK_LIST_FRAMES  2u /* a read of an interpreter's memory, where others were just before */
#define WALK_MISS_FRAMES  (WALK_CLOCK_FRAMES - 1)

/*
 * No work between two looks takes WALK_STALL_NS: in such a stall, a hypervisor or firmware had the
 * CPU. At low rates, the deadline of a walk moves by its first WALK_STALLS stalls.
 */
#define WALK_STALL_NS 60000ull
#define WALK_STALLS   4u

/*
 * A CPU may extend one walk per WALK_EXTEND_EVERY_NS, and up to WALK_EXTENSIONS at once after a
 * time without extensions.
 */
#define WALK_EXTEND_EVERY_NS 50000000ull
#define WALK_EXTENSIONS	     40u

/* How exact a frame's address is: a return address is behind a call, a pc is the very place. */
enum walk_exact {
	WALK_RETURN,   /* a return address */
	WALK_PC,       /* the CPU's pc at the sample: only the leaf's */
	WALK_PC_SAVED, /* a pc from a signal's context: memory that the target can write */
};

/* The registers of the save slots in a rule, in their order there. */
static const u8 walk_slot_register[RULE_SLOTS] = {REG_RBP, REG_RBX, REG_R12,
						  REG_R13, REG_R14, REG_R15};

/* A copy of the stack memory [start, start + bytes), at kernel address `at`. */
struct stack_copy {
	u64 start, bytes, at;
};
#define STACK_COPIES 2u /* a signal handler may have a stack of its own */

/*
 * Where an interpreter's loop calls itself for each function, its frames can take the whole time of
 * a walk. Behind so many of them the stack leaves most of the time to the list, which says more.
 * CPython 3.10 has five frames for each function: they take 0.45 us, a frame of its list 0.1.
 */
#define RUNTIME_MARKS_MANY 256u

/* The kernel calls a step of the loop through a pointer, which costs as much as some frames. */
#define RUNTIME_FRAMES_STEP 8u

/* State of the walk over an interpreter's list, runtime.bpf.h. */
#define RUNTIME_MEMORY_WORDS 32u
#define RUNTIME_CODES	     16u
#define RUNTIME_SCAN_WORDS   16u /* that a step of a search looks at */
#define RUNTIME_CODE_FREE    1u	 /* no address: there is no code */
struct runtime_code {
	u64 code;
	u32 fingerprint;
	u32 number; /* of the copy of its instructions, 0: its own; RUNTIME_CONTROL: of its class */
	u64 copy;   /* its address */
};
/* A frame's code, its instruction and the second word that is stored for it. */
struct runtime_place {
	u64 code, instruction, place;
};
struct runtime_object {
	u64 address, code;
};
struct runtime_list {
	struct runtime_config config;	  /* a copy: the worker may change its own */
	u64 config_seed;		  /* walk.seed of the walk that copied it, */
	u32 config_word;		  /* and of which word; 0: none yet */
	u64 bias;			  /* of the interpreter's object */
	u64 node;			  /* the next frame, 0: none */
	u64 anchor;			  /* of the next activation */
	u64 word;			  /* the last one that was read */
	u64 memory[RUNTIME_MEMORY_WORDS]; /* of code */
	u32 on;				  /* flag: the walk is in the list */
	u32 open;			  /* flag: frames without a border behind them */
	u32 has_heaps;			  /* flag: RUNTIME_HEAPS */
	u32 words;			  /* stored */
	u32 code_bytes;			  /* to read of each code */
	u32 told;			  /* events about code that this sample may still send */
	u32 reads; /* of the process's memory; RUNTIME_FRAMES_STEP frames count as one, too */
	/* RUNTIME_AT_SCAN */
	u64 at;		 /* the next words of the stack to look at; 0: those of registers */
	u64 stack;	 /* below this address there are no such words, */
	u64 stack_end;	 /* nor from here on */
	u64 state;	 /* whose frames are taken; 0: the next one is looked for */
	u64 last;	 /* the state before */
	u64 unprotected; /* a main state that has no handler; 0: none was met */
	u64 near;	 /* up to here a better state may follow */
	u32 next_mark;	 /* the search looks at this marked frame next, */
	u32 tries;	 /* and at so many before it looks at the stack */
	u64 begun;	 /* `at` where the search for `state` began */
	u32 is_thorough; /* flag: the search goes on behind the first state, up to `near` */
	u32 state_words; /* stored before those of `state` */
	u32 state_mark;	 /* the first mark that may be of `state` */
	u32 borders;	 /* stored of `state` */
	u32 loops;	 /* frames of the loop that runs functions, */
	u32 counted;	 /* among the marked frames up to here */
	u64 found;	 /* the best state so far; 0: none */
	/* the innermost handler of `found`; of `state`, as far as its list was climbed */
	u64 nearest;
	u64 end; /* RUNTIME_ARRAY: the outermost frame; RUNTIME_CONTROL: where the frames end */
	/*
	 * RUNTIME_ARRAY: of the innermost frame, until it is taken. RUNTIME_STACKED: of the next
	 * frame; 0: its native frame has it
	 */
	u64 instruction;
	/* RUNTIME_STACKED */
	u32 stacked; /* flag: the next frame is on the stack of `state`, or in its trace */
	u32 skip;    /* flag: the next frame belongs to the function before */
	u32 traced;  /* enum runtime_traced: what is to be done for the frames of a trace */
	u64 code; /* of the frame that is taken next, where no function leads to it; 0: see there */
	u64 link, function; /* of the frame that is taken */
	u64 next;	    /* LINK_CONTINUES: the caller's instruction */
	u32 ends;	    /* flag: native code called the function */
	u64 below; /* bytes from the last frame's base to that of the next; 0: the same again */
	u64 known_link, known_below; /* of a frame before, whose caller was at the same call */
	u64 entries, constants;	     /* of a snapshot; of its trace */
	u32 entry_count, depth;	     /* entries; slots of the frames that are left */
	/* a binary search in an array of the process: the last key that is not above `wanted` */
	u64 search, stride;
	u32 low, high, wanted, mask;
	/* RUNTIME_NAMES */
	u64 unnamed;	 /* code that no event has told of, whose caller comes next; 0: none */
	u64 caller;	 /* of `unnamed`: its code; 0: none */
	u64 called_at;	 /* its instruction */
	u64 name, named; /* of the code that is told of now, as in its event */
	u32 fingerprint; /* of `unnamed` */
	u32 asks;	 /* enum runtime_asks: what is to be done for `unnamed` */
	u32 call;	 /* the instruction of the call; 0: not read */
	u32 called_in;	 /* of the caller's frame: the word at names.tail */
	u32 count, some; /* instructions or variables, and how many were read, or are left */
	u32 back;	 /* the next one to look at */
	u64 variables;	 /* address of those that were not read */
	u32 more;	 /* how many these are */
	u32 may_name;	 /* flag: the next frame's caller may have a name for it */
	u32 is_main;	 /* flag: `found` is the main state */
	/* RUNTIME_OWNED */
	u64 generator; /* of the last frame */
	u64 outermost; /* that waits for it; 0: none */
	u64 behind;    /* the frame behind that of `outermost` */
	u64 told_at;   /* the instruction of the frame whose code is told of now */
	/* RUNTIME_CONTROL: addresses of parts of the code that is told of now, and bytes */
	u64 label, path, lines, lines_bytes, table, table_bytes;
	/* RUNTIME_SCOPES */
	u64 interpreter;
	u64 info;	/* the stack of scopes */
	u64 statement;	/* in which the next inner scope began, or the current one */
	u32 scopes;	/* of the stack that are left */
	u32 is_due;	/* flag: a border is due behind the last frame */
	u32 is_leaf;	/* flag: no frame was met yet */
	u32 scope;	/* enum runtime_scope_kind, of the frame that is taken */
	u32 is_learned; /* flag: its function was read */
	struct runtime_object
		object[RUNTIME_CODES]; /* RUNTIME_OBJECT: those that this walk has met */
	u64 slots, slots_bytes; /* which of the process's words the window's upper half has */
	struct runtime_code known[RUNTIME_CODES]; /* code that this walk has met */
	struct runtime_place stored;		  /* the last frame */
	u32 result;				  /* enum runtime_result */
};

/* A goroutine of Go, as bpf/walk/go.bpf.h reads it. All are addresses. */
struct walk_go {
	u64 system;	/* the goroutine that has the thread's stack (g0) */
	u64 goroutine;	/* that the thread runs (curg); 0: none */
	u64 low, high;	/* its stack */
	u64 sp, pc, bp; /* as saved when it left its stack */
	u64 callback;	/* C's stack pointer at the next callback; 0: see `system` */
	/* of a copy alone: the bytes of code before `pc`, if they are a call; 0: no call */
	u64 call;
	u64 layouts; /* the same: a bit per layout in which all this was found; 0: it was not */
};

/* Labels of a goroutine: addresses of the texts, and how many bytes they have. */
struct walk_label {
	u64 key, key_bytes, value, value_bytes;
};

/* State of the walk over frames of HotSpot, hotspot.bpf.h. */
#define HOTSPOT_HEAPS	    4u
#define HOTSPOT_FUNCTIONS   16u
#define HOTSPOT_INLINED_MAX 32u	       /* functions at one place */
#define HOTSPOT_PLACES_MAX  (1u << 20) /* in one piece of compiled code */
#define HOTSPOT_SCOPE_WORDS 2u /* that are read of the description of a place: three numbers */
#define HOTSPOT_LEAF_PLACE  2u /* walk_leaf(): r13 has the address of the instruction */

enum hotspot_known {
	HOTSPOT_UNKNOWN,
	HOTSPOT_NONE,
	HOTSPOT_KNOWN
};
enum hotspot_kind {
	HOTSPOT_OTHER,
	HOTSPOT_COMPILED, /* a function */
	HOTSPOT_STUBS
};
/* The next step for the functions of the frames. */
enum hotspot_does {
	HOTSPOT_NEXT,	/* stores the next one */
	HOTSPOT_PLACE,	/* begins with a place in compiled code */
	HOTSPOT_SEARCH, /* looks for its description */
	HOTSPOT_LEAF,	/* stores the function there: of the leaf */
	HOTSPOT_SCOPE,	/* takes a function at the place */
	HOTSPOT_SEND,	/* tells of the place */
	HOTSPOT_NAME	/* tells of code of no function */
};

/*
 * A noted function of the interpreter has the address of its instruction. Other ones have the
 * offset of the pc in the blob << 32, and a fingerprint.
 */
#define HOTSPOT_PLACE_INTERPRETED (1ull << 63)
#define HOTSPOT_PLACE_OTHER	  (1ull << 62) /* code of no function */

struct hotspot_heap {
	u64 low, high, segments, shift;
};
/*
 * A blob that walks have met, as struct hotspot has it. Its head is looked at again after
 * HOTSPOT_TRUST_NS: HotSpot frees code only some time after its last call.
 */
#define HOTSPOT_BLOB_BITS    5
#define HOTSPOT_BLOBS	     (1u << HOTSPOT_BLOB_BITS)
#define HOTSPOT_GRANULE_BITS 8 /* of code, whose addresses share an entry */
#define HOTSPOT_TRUST_NS     200000000ull
struct hotspot_blob {
	u64 blob, begin, method, name, own;
	u64 key;	/* of struct hotspot */
	u64 trusted_at; /* CLOCK_MONOTONIC, ns: the last look at the head */
	u32 seen;	/* a number of the head, 0: it was not read */
	u32 size, frame, complete, kind;
	/* the place that a leaf was at, as struct hotspot has it; scope 0: none */
	u32 scope, found, found_before;
};
struct hotspot_function {
	u64 method, instructions;
	u32 size, fingerprint, is_told, pad;
};
struct hotspot {
	u32 is_known;	    /* enum hotspot_known */
	u32 is_interpreted; /* flag: the last frame is of the interpreter */
	u32 is_left;	    /* flag: the frame that the walk leaves is HotSpot's or V8's, */
	u64 bp;		    /* with this frame pointer */
	u32 has_jumped;	    /* flag: the walk has gone on with frames in the heap, in a piece */
	u32 shift;	    /* of pointers in the heap */
	u64 piece, start;   /* the piece, and the distance of its words */
	/* and of its pc, of the numbers of these words, and of the piece behind it */
	u32 piece_pc, top, parent, pad;
	u64 piece_end;			 /* of its frames; 0: the walk is on the stack */
	u64 barrier, entry_sp, entry_bp; /* where it goes on behind all pieces; 0: it met none */
	/* where the code of a process is, which the key says: kept from walk to walk */
	u64 key;
	struct hotspot_heap heap[HOTSPOT_HEAPS];
	u64 code, code_bytes; /* of the interpreter */
	u64 returns;
	/* the blob that was met last */
	u64 blob, begin, method, name, own;
	u32 size, frame, complete, kind;
	u32 kind_named; /* enum hotspot_kind of blobs with the following name */
	u64 named;
	/* the functions of the frames, behind the walk of the stack */
	u32 next, does; /* the next mark; enum hotspot_does */
	u64 leaf;	/* a register that may have the innermost instruction */
	struct hotspot_function function[HOTSPOT_FUNCTIONS]; /* that this walk has met */
	struct hotspot_function taken;
	/* a place in compiled code: its address and blob, and where that is described */
	u64 pc, told_blob, scopes, functions, places;
	u32 fingerprint, offset, low, high, inlined;
	u32 is_leaf; /* flag: the place is that of the leaf, whose words are not stored yet */
	/* of the place that was found, and of the last one that is before the pc */
	u32 scope, found, before, found_before;
	u32 is_missing;	 /* flag: no event has told of an inlined function, */
	u32 was_missing; /* and of those before the last one */
	u32 is_untold;	 /* flag: `taken` is new */
	u32 at;		 /* bytes taken of the following ones */
	u64 bytes[HOTSPOT_SCOPE_WORDS];
};

#define LEAF_UNKNOWN (~0ull) /* of walk_leaf_place() */

/* State of the walk over frames of V8, v8_*.bpf.h. */
#define V8_FUNCTION_BITS 5
#define V8_FUNCTIONS	 (1u << V8_FUNCTION_BITS)
/*
 * After V8_TRUST_NS, a walk looks again at what all functions of a code share. After V8_WALKS
 * walks, it looks all up.
 */
#define V8_TRUST_NS	200000000ull
#define V8_WALKS	32u
#define V8_FRAME_WORDS	5u /* that are read below a frame pointer */
#define V8_LINKS	4u /* texts that lead to one another */
#define V8_CHUNKS	4u /* events about the newlines of a script in a sample */
#define V8_BLOCK_BYTES	256u
#define V8_UNREAD	4u
#define V8_LENGTH_MAX	(1u << 23)   /* characters of a script */
#define V8_LEAF_CODE	3u	     /* walk_leaf(): r12 has the interpreter's code, */
#define V8_LEAF_PLACE	8u	     /* and r9 the place there */
#define V8_PLACE_EXACT	(1ull << 63) /* it is a pc, and no byte before a return address */
#define V8_IS_HERE	1u
#define V8_IS_ELSEWHERE 2u
#define V8_RANGES	32u /* compiled code that walks have met */
#define V8_SEARCHES	64u /* windows before a place, in which its code may begin */
#define V8_PUT_IN_MAX	31u /* functions that an event about code has */

enum v8_kind {
	V8_KIND_SHARED,
	V8_KIND_SCRIPT,
	V8_KIND_BYTECODE,
	V8_KINDS
};
/* The next step for the functions of the frames. */
enum v8_does {
	V8_NEXT,   /* stores the next one */
	V8_SEARCH, /* looks for its compiled code */
	V8_NAME,   /* finds the name of a new one, */
	V8_PREFIX, /* what is before that, */
	V8_FILE,   /* that of its script, */
	V8_TELL,   /* and tells of it */
	V8_PUT_IN, /* takes the next function that is put into compiled code */
	V8_TREE,   /* looks for code of WebAssembly, */
	V8_RECENT, /* looks at the newest code, */
	V8_WASM,   /* and looks for the name of its function */
	V8_SCRIPT, /* begins with the newlines of a script */
	V8_SCAN	   /* looks for them */
};
struct v8_code {
	u64 object, start; /* and its instructions; 0: none */
	u32 bytes, pad;
};
/* Optimized code of the function at `shared`, or what is none. */
struct v8_range {
	u64 object, start, shared; /* object 0: it is none */
	u32 bytes;
	u32 walk;      /* number of the walk that has met it last, or has found none */
	u32 put_in;    /* functions that are put in */
	u32 is_listed; /* flag: events have told of these */
};
struct v8_function {
	u64 function, shared, name, script, bytecode, positions;
	u64 seen;	/* a number of what tells it from others */
	u64 trusted_at; /* CLOCK_MONOTONIC, ns: the last look at that; see V8_TRUST_NS */
	u32 fingerprint, script_fingerprint, position_bytes;
	u32 walk, looked_up, pad; /* numbers of walks: that has met it last, and looked it up */
	struct v8_code baseline;
};
/* The search for a name of WebAssembly looks at these. */
enum v8_wasm_does {
	V8_WASM_BEGIN,
	V8_WASM_SECTIONS, /* of the module */
	V8_WASM_PARTS,	  /* of its section of names */
	V8_WASM_NAMES_OF  /* of functions */
};
#define V8_WASM_CUSTOM	   0u /* a kind of sections */
#define V8_WASM_FUNCTIONS  1u /* a part of a section of names: names of functions */
#define V8_WASM_BYTES_MAX  (1u << 30)
#define V8_RECENT_MAX	   16u /* pieces of new code of a module */
#define V8_TREE_BYTES	   32u /* from the root of the tree to what follows the tree */
#define V8_FOREIGN_ADDRESS 8u  /* in an object that stands for something outside of the heap */
#define V8_MANAGED_POINTER 24u /* there, of a shared pointer */
struct v8_wasm {
	u64 instance, module, script; /* that were found last; module 0: they were not found */
	u64 found;		      /* the best code in the tree; where the vector begins */
	u64 wanted, wanted_script;    /* the module of the function whose name is wanted; 0: none */
	u64 at, end;		      /* of the module's bytes. Kept from walk to walk. */
	u32 number, walk;	      /* of the script, and of the walk that has found it */
	u32 print, index;	      /* of the function whose name is wanted, */
	u32 does, begun;	      /* and the state of that search, which began in this walk */
	u32 is_named, pad;	      /* flag: the function that is told of is such a function */
};
struct v8_text {
	u64 data; /* 0: not found */
	u32 length, is_wide;
};
struct v8 {
	u32 is_known;	       /* V8_IS_*, 0: not known */
	u32 next;	       /* mark */
	u32 does;	       /* enum v8_does */
	u32 is_inside;	       /* flag: the last frame is in its code */
	u32 walk;	       /* number of this one */
	u32 untold;	       /* events that are to tell of the last function's compiled code */
	u32 is_compiled;       /* flag: the last function has a place in `code`, */
	u32 is_optimized, pad; /* which is no baseline code */
	u32 after;	       /* `does` behind a search */
	u64 map[V8_KINDS];     /* of objects of these kinds; kept from walk to walk, of: */
	u64 key;
	u64 frame[V8_FRAME_WORDS];
	u64 leaf_code, leaf_place;
	struct v8_function taken;
	struct v8_code code; /* that was taken last */
	u64 taken_frame;     /* the frame on the stack of the function that was taken last, */
	u64 instruction;     /* its place in the interpreter's code or in `code`, or none, */
	u64 place;	     /* and its place in memory */
	u64 noted;	     /* the same as the walk has noted it: with V8_PLACE_EXACT */
	u64 left;	     /* such a place of the frame that the walk leaves */
	struct v8_range range[V8_RANGES];
	u64 search_at;	  /* the search: where the head of the code may be at most */
	u32 searches;	  /* and windows that are left */
	u32 put_in_print; /* of the event about: */
	u64 put_in_code;  /* code, of whose functions that are put in no event has told; 0: none */
	u64 put_in_array; /* these functions */
	u32 put_in, put_in_next;    /* their number, and the next one */
	u32 is_told_of, is_missing; /* flags: the one before is new; the event has to wait */
	struct v8_text text;
	/* where the characters of the name are, and of what is before; as in the event */
	u64 name, prefix, named;
	u64 before; /* the text of what is before, 0: none */
	u32 start;
	/* the script whose newlines are looked for, 0: none */
	u64 script, scanned;
	u64 unread[V8_UNREAD]; /* such scripts, whose text is not in memory */
	u32 script_fingerprint, chunk, at, chunks;
	u32 unread_next, pad_2;
	struct v8_text source;
	struct v8_wasm wasm;
};

/* State of one walk, in a per-CPU value. A flag is 0 or 1. */
struct walk {
	u64 hide; /* HIDE(): values pass through here, so that the verifier forgets their range */

	u64 address;	  /* of the next frame to take */
	u64 reg[16];	  /* by DWARF number; as the next frame has them */
	u32 valid;	  /* bit per register: its value is known */
	u32 exact;	  /* enum walk_exact: what `address` is */
	u32 in_sigreturn; /* flag: the leaf is in rt_sigreturn, and `address` is behind it */
	u32 chained;	  /* flag: the frame pointer led here, so rbp is part of a chain */
	u32 switches;	  /* frames so far that may have lowered the stack pointer */
	u32 forgiving;	  /* further stalls by which the deadline moves; 0 at high rates */
	u32 frames;	  /* emitted so far */
	u32 reason;	  /* why the walk ended, or WALK_GOES_ON */
	u64 guessed;	  /* FRAME_GUESSED if the walk guessed that `address` is next, or 0 */
	u64 guesses;	  /* FRAME_GUESSED if the walk has guessed, or 0 */
	u64 deadline;	  /* CLOCK_MONOTONIC, ns */
	u64 reserved;	  /* ns by which the deadline is earlier now, for the list */
	u64 looked;	  /* CLOCK_MONOTONIC, ns: the last look at the clock */
	u64 look_at;	  /* walk_work() at which to look at the clock again */
	u64 extension;	  /* ns by which the deadline may move once, or 0 */
	/*
	 * CLOCK_MONOTONIC, ns: the CPU's last extension, earlier by the time of extensions that are
	 * left. Kept from walk to walk.
	 */
	u64 extended_at;

	/* the process */
	u64 slot;	/* process_slot.block */
	u32 block;	/* global word number of its mapping block */
	u32 mappings;	/* in the block */
	u32 incomplete; /* flag: PROCESS_SLOT_INCOMPLETE is set */
	u64 seed;	/* cache_seed(): part of each cache key */
	u64 multiplier; /* of the rule caches, odd */

	/* the mapping that the last look-up found; start > end: none yet */
	u64 mapping_start, mapping_end, bias;
	u32 first_page, pages, directory, dictionary, mapping_flags, mapping_runtime;
	u64 mapping_rule, mapping_framed_rule;

	u64 code_start, code_end; /* the last executable area that the kernel named */
	u32 area_levels;	  /* levels of area trees searched so far; kernel_for.bpf.h */
	u32 called;		  /* flag: the return address in question is behind a call */

	/* The stack as copies, and no other memory. Without a first copy, the walk reads memory. */
	struct stack_copy copy[STACK_COPIES];

	/* the last reads of a word of the stack and of 8 bytes of code */
	u64 word, code;
	/* memory of a fallback; on the BPF stack it would be too much for 5.10 */
	u64 pair[2];
	/* the caller's rbp rbx r12 r13 r14 r15, by a wide rule */
	u64 saved[RULE_SLOTS];
	u64 target; /* of the direct call in front of the last address that was looked up */
	u64 into; /* the only function that another return address of the frame points into, or 0 */
	u32 least; /* enum call_leads of another return address, at least */
	u32 words; /* of the frame, from rsp on, which the window has */
	u32 looks; /* of them, words that were looked up as return addresses */
	u32 calls; /* of these, words that are in known mappings, whose code was read */

	/* the frame's rule: result of the last look-up */
	u64 rule;

	struct walk_go go;

	/* counts: rules from the caches, from tables; frames without a rule; reads of the stack */
	u64 trail_hits, text_hits, misses, fallbacks, reads;

	/* a copy of the stack bytes [window_start, window_start + window_bytes) */
	u64 window_start, window_bytes;
	u64 window[WALK_WINDOW_BYTES / 8];

	u64 marked, last_marked; /* the addresses of the first one and of the last one */
	u32 marks;
	u64 anchor; /* the last native frame by which the walk has left other code; 0: none */
	u64 made;   /* the address in code made at run time that the walk has left first; 0: none */
	u32 is_part;	   /* flag: the leaf is a part of an interpreter that the loop has called */
	u32 is_list_first; /* flag: the walk takes the list before the stack */
	u32 before;	   /* words of the list before the frames */
	u32 context;	   /* enum context_result */
	u32 context_words;
	u32 labels; /* enum labels_result */
	u32 label_words;
	u32 label_count;
	u64 goroutine; /* its number */
	struct walk_label label[GO_LABELS_MAX];
	struct runtime_list list;
	struct hotspot hotspot;
	struct v8 v8;

	/* Large arrays come last, so that most walks touch few pages of memory. */
	/* frames of an interpreter's code: where the caller's begins, and their number above */
	u64 mark[RECORD_FRAMES_MAX];
	struct hotspot_blob blob[HOTSPOT_BLOBS];   /* that walks have met */
	struct v8_function function[V8_FUNCTIONS]; /* the same */
	/* of functions of HotSpot and V8, whose frames `mark` has; otherwise addresses of frames */
	u64 place[RECORD_FRAMES_MAX];
};

#define WALK_GOES_ON 255u

/* Steps of a loop over frames: all frames, the end, and a list of a runtime before them. */
#define WALK_STEPS_MAX (RECORD_FRAMES_MAX + 1 + RECORD_RUNTIME_WORDS_MAX / 2 / RUNTIME_FRAMES_STEP)

/* Returns the work so far, in frames with a cached rule and their words in the window. */
static inline u64 walk_work(const struct walk *walk)
{
	return walk->frames + WALK_READ_FRAMES * walk->reads + WALK_LIST_FRAMES * walk->list.reads +
	       WALK_MISS_FRAMES * (walk->misses + walk->fallbacks);
}

static inline int stack_copy_holds(const struct stack_copy *copy, u64 bytes, u64 address)
{
	u64 at = address - copy->start;

	return at < copy->bytes && bytes <= copy->bytes - at;
}

static inline int walk_has_copy(const struct walk *walk)
{
	return walk->copy[0].bytes != 0;
}

/* Returns why the walk ended: a root that a guess led to is no proven root. */
static inline u32 walk_result(const struct walk *walk)
{
	if (walk->reason == WALK_GOES_ON)
		return REASON_cut_depth;
	if (walk->guesses && walk->reason <= REASON_end_frame_pointer)
		return REASON_guess_root;
	return walk->reason;
}

static inline void walk_init(struct walk *walk)
{
	walk->valid = WALK_ALL_REGISTERS;
	walk->exact = WALK_PC;
	walk->in_sigreturn = 0;
	walk->chained = 0;
	walk->guessed = walk->guesses = 0;
	walk->switches = 0;
	walk->forgiving = 0;
	walk->frames = 0;
	walk->reason = WALK_GOES_ON;
	walk->mapping_start = 1;
	walk->mapping_end = 0;
	walk->code_start = walk->code_end = 0;
	walk->area_levels = 0;
	walk->marks = 0;
	walk->is_list_first = walk->before = walk->is_part = 0;
	walk->hotspot.is_known = HOTSPOT_UNKNOWN;
	walk->hotspot.is_interpreted = walk->hotspot.has_jumped = 0;
	walk->hotspot.piece_end = walk->hotspot.barrier = 0;
	walk->v8.is_known = walk->v8.is_inside = 0;
	walk->context = CONTEXT_NOT_PUBLISHED;
	walk->context_words = 0;
	walk->labels = LABELS_NOT_WANTED;
	walk->label_words = 0;
	walk->made = walk->anchor = 0;
	walk->go = (struct walk_go){0};
	walk->reserved = 0;
	walk->list.on = walk->list.words = walk->list.reads = 0;
	walk->list.result = RUNTIME_NONE_MET;
	walk->copy[0].bytes = walk->copy[1].bytes = 0;
	walk->window_start = 0;
	walk->window_bytes = 0;
	walk->look_at = WALK_CLOCK_FRAMES;
	walk->trail_hits = walk->text_hits = walk->misses = walk->fallbacks = walk->reads = 0;
}

#endif
