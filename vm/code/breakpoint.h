/* SPDX-License-Identifier: Apache-2.0 */
/* Breakpoints: functions whose calls are told of before they run. A function's own breakpoint is an operation put over
 * the first one of its code, whose fields stay as they are; one for calls through an export, or of a native, stands in
 * the export's stub. Both are found by the func_info block before them. What happens there is the tracing room's, wired
 * through breakpoint_hooks.
 * A debugger's stands over the first operation of a function too: error_handler:breakpoint(Module, Function, Arguments)
 * runs in its place. What stood there is kept beside the function's arity. Of both, that of a trace comes first.
 * Locks: breakpoints come and go while the world is stopped, or in code that nobody can call yet. */
#ifndef VM_CODE_BREAKPOINT_H
#define VM_CODE_BREAKPOINT_H

#include "code/code_area.h"
#include "code/export.h"
#include "code/opcodes.h"

struct code_instance;

struct breakpoint {
	Inst *info;          /* the func_info block: of the function, or of an export's stub */
	struct export *export; /* of the stub; NULL: the function itself */
	const Inst *address; /* of a stub: where its calls go on, but those of a native */
	uint16_t opcode;     /* of a function: what its entry holds otherwise */
	bool is_global;      /* of a native: calls from within its own module pass it by */
};

/* A frame on the stack, behind the return address of breakpoint_return: what to tell when the function returns.
 * Immediates. */
struct breakpoint_frame {
	Term kind;           /* small: the tracing room's, or BREAKPOINT_KEPT_FRAME */
	Term module, function;
	Term arity;          /* small */
	Term tracer;         /* whom to tell, or the tracing room's own; of a kept frame its bytes, as a small */
};
/* The frame below is that of the function whose last call this is; its return address only names it. */
enum { BREAKPOINT_KEPT_FRAME = 255 };
enum { BREAKPOINT_FRAME_WORDS = 1 + sizeof(struct breakpoint_frame) / sizeof(Term), BREAKPOINT_FRAMES_FEW = 4 };
/* Those to push, in their order. `all` is few until there are more; then it is freed by who pushes them. */
struct breakpoint_frames {
	struct breakpoint_frame *all;
	unsigned count, room;
	struct breakpoint_frame few[BREAKPOINT_FRAMES_FEW];
};

struct breakpoint_hooks {
	/* p calls b's function. args: binaries in place of match contexts. Adds the frames to be pushed.
	 * p->heap.stop[0] is the return address. */
	void (*called)(Process *p, struct breakpoint *b, const Term *args, struct breakpoint_frames *frames);
	/* to: the return address below the frame */
	void (*returned)(Process *p, const struct breakpoint_frame *f, Term value, const Inst *to);
	/* Returns whether whoever catches is to be told. */
	bool (*raised)(Process *p, const struct breakpoint_frame *f, Term class, Term value);
	/* Such an exception was caught: the code goes on at `at`. The frames of whom to tell are among those of this
	 * part of the stack. */
	void (*caught)(Process *p, const Term *from, const Term *to, const Inst *at);
	/* c is code that can be called from now on; or will soon be no current code any more. The world is stopped, or
	 * c is new. */
	void (*entered)(struct code_instance *c);
	void (*leaving)(struct code_instance *c);
};
extern struct breakpoint_hooks breakpoint_hooks;
/* Where a frame's function returns to. Wired by exec. */
extern const Inst *breakpoint_return;

static inline struct breakpoint *breakpoint_at(const Inst *info)
{
	return (struct breakpoint *)(info[0] >> 16);
}
/* b->info and b->export say where; nothing stands there yet. Owns: the caller. */
void breakpoint_place(struct breakpoint *b);
void breakpoint_remove(struct breakpoint *b);
void breakpoint_debug_place(Inst *info);
void breakpoint_debug_remove(Inst *info);
/* The function's first operation, when a debugger's breakpoint stands over it. */
static inline enum opcode breakpoint_debugged(const Inst *info)
{
	return (enum opcode)(info[3] >> 32);
}
/* The operation at `at`, when machine code of it stands over it: it is kept right before that code. */
static inline enum opcode breakpoint_native_opcode(const Inst *at)
{
	return (enum opcode)((const uint16_t *)*code_native_at(at))[-1];
}
/* The operation at `at`, or the debugger's, whatever of a trace or of machine code stands over it. */
static inline enum opcode breakpoint_opcode(const Inst *at)
{
	uint16_t op = (uint16_t)*at;

	if (unlikely(op == OP_native))
		return breakpoint_native_opcode(at);
	return unlikely(op == OP_breakpoint) ? breakpoint_at(at - FUNC_INFO_WORDS)->opcode : op;
}
/* The native that the call at `at` is of, when that is all there is of the native's own place in its module; or
 * NULL. */
static inline const struct export *breakpoint_native_of_entry(const Inst *at)
{
	const Inst *info = at - FUNC_INFO_WORDS;
	const struct export *e = (const struct export *)at[1];

	if (breakpoint_opcode(at) != OP_call_bif_only || (uint16_t)info[0] != OP_func_info)
		return NULL;
	return e->module == func_info_module(info) && e->function == func_info_function(info) ? e : NULL;
}
/* Skips frames: the next return address of the program's own from `stack` on. */
static inline const Term *breakpoint_skip_frames(const Term *stack)
{
	while (*stack == (Term)breakpoint_return)
		stack += BREAKPOINT_FRAME_WORDS;
	return stack;
}

#endif
