/* SPDX-License-Identifier: Apache-2.0 */
/* A function of the object file becomes a stencil when all this is so; else it says what is not:
 *   - each instruction is known, and each hole is one that the patcher fills;
 *   - rbp, r14 and r15 are never written, rbp never read; rsp changes only by constants, is where it was at each way
 *     out, and is aligned at calls; nothing is read or written through it but what lies between;
 *   - it never returns, and never runs past its end. (A way out that is called never returns either: it is a jump, once
 *     the function's part of the stack is taken away.)
 *   - before a way out to EXIT, where the loop does the whole operation again, nothing was written, and nothing called
 *     that may write.
 * Then branches to jumps become branches to where these go, what is never reached goes, and the last jump to the next
 * operation too. */
#include "stencils/stencil_code.h"

#include <capstone/capstone.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NO_STEP = -1, BYTE_SHORT_JUMP = 0xeb, BYTE_JUMP = 0xe9, BYTE_SHORT_BRANCH = 0x70, BYTE_BRANCH = 0x80 };

static bool refuse(struct code *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->why, sizeof c->why, format, args);
	va_end(args);
	return false;
}

/* ---- reading */

/* The parts of rsp, rbp, and of those that a stencil may not change. */
static bool is_rsp(unsigned reg)
{
	return reg == X86_REG_RSP || reg == X86_REG_ESP || reg == X86_REG_SP || reg == X86_REG_SPL;
}
static bool is_rbp(unsigned reg)
{
	return reg == X86_REG_RBP || reg == X86_REG_EBP || reg == X86_REG_BP || reg == X86_REG_BPL;
}
static bool is_fixed(unsigned reg)
{
	return reg == X86_REG_R14 || reg == X86_REG_R14D || reg == X86_REG_R14W || reg == X86_REG_R14B ||
	       reg == X86_REG_R15 || reg == X86_REG_R15D || reg == X86_REG_R15W || reg == X86_REG_R15B;
}
static bool is_top(unsigned reg)
{
	return reg == X86_REG_R12 || reg == X86_REG_R12D || reg == X86_REG_R13 || reg == X86_REG_R13D;
}

/* `sub $n,%rsp`, `add $n,%rsp`, and a register that is pushed or popped are what may change it. */
static bool read_stack_change(struct code_step *s, const cs_insn *in)
{
	const cs_x86_op *o = in->detail->x86.operands;
	unsigned count = in->detail->x86.op_count;

	if (in->id == X86_INS_PUSH || in->id == X86_INS_POP) {
		s->stack = in->id == X86_INS_PUSH ? 8 : -8;
		return count == 1 && o[0].type == X86_OP_REG && o[0].size == 8;
	}
	if ((in->id != X86_INS_SUB && in->id != X86_INS_ADD) || count != 2 || o[0].type != X86_OP_REG ||
	    o[0].reg != X86_REG_RSP || o[1].type != X86_OP_IMM || o[1].imm < 8 || o[1].imm > CODE_STACK_MAX ||
	    o[1].imm % 8 != 0)
		return false;
	s->stack = (int16_t)(in->id == X86_INS_SUB ? o[1].imm : -o[1].imm);
	return true;
}

static bool read_operand(struct code *c, struct code_step *s, const cs_insn *in, const cs_x86_op *o)
{
	if (o->type != X86_OP_MEM)
		return true;
	if (o->mem.segment != X86_REG_INVALID)
		return refuse(c, "uses a segment: %s %s", in->mnemonic, in->op_str);
	if (is_rsp(o->mem.index) || is_rbp(o->mem.index) || is_rbp(o->mem.base))
		return refuse(c, "uses the frame: %s %s", in->mnemonic, in->op_str);
	if (o->mem.base == X86_REG_RSP) {
		int64_t end = o->mem.disp + o->size;

		if (o->mem.index != X86_REG_INVALID || o->mem.disp < 0 || end > CODE_STACK_MAX)
			return refuse(c, "uses the frame: %s %s", in->mnemonic, in->op_str);
		s->stack_use = (int16_t)end;
		return true;
	}
	/* Capstone 4 says that TEST writes. */
	if (in->id != X86_INS_LEA && in->id != X86_INS_TEST && o->access != CS_AC_READ)
		s->writes = true;
	return true;
}

/* `mov %rsp,REGISTER`: the address of the lowest word that is the stencil's. */
static bool tells_stack(const cs_insn *in)
{
	const cs_x86_op *o = in->detail->x86.operands;

	return in->id == X86_INS_MOV && in->detail->x86.op_count == 2 && o[0].type == X86_OP_REG && !is_rsp(o[0].reg) &&
	       o[1].type == X86_OP_REG && o[1].reg == X86_REG_RSP;
}

static bool read_registers(struct code *c, struct code_step *s, csh capstone, const cs_insn *in)
{
	cs_regs reads, writes;
	uint8_t read_count = 0, write_count = 0;
	bool moves_stack = s->flow == FLOW_RETURN || in->id == X86_INS_CALL || read_stack_change(s, in);

	if (tells_stack(in))
		s->stack_use = 8;
	if (cs_regs_access(capstone, in, reads, &read_count, writes, &write_count) != CS_ERR_OK)
		return refuse(c, "unknown instruction: %s %s", in->mnemonic, in->op_str);
	for (unsigned i = 0; i < read_count; i++)
		if (is_rbp(reads[i]))
			return refuse(c, "reads rbp: %s %s", in->mnemonic, in->op_str);
	for (unsigned i = 0; i < write_count; i++) {
		if (is_rbp(writes[i]) || is_fixed(writes[i]))
			return refuse(c, "changes a register of the loop: %s %s", in->mnemonic, in->op_str);
		if (is_rsp(writes[i]) && !moves_stack)
			return refuse(c, "changes rsp: %s %s", in->mnemonic, in->op_str);
		s->writes |= is_top(writes[i]);
	}
	for (unsigned i = 0; i < in->detail->x86.op_count; i++) {
		const cs_x86_op *o = &in->detail->x86.operands[i];

		if (o->type == X86_OP_REG && is_rsp(o->reg) && !moves_stack && !tells_stack(in))
			return refuse(c, "uses rsp: %s %s", in->mnemonic, in->op_str);
		if (!read_operand(c, s, in, o))
			return false;
	}
	return true;
}

static bool is_way(enum stencil_hole hole)
{
	return hole == STENCIL_LABEL || hole == STENCIL_WORD_LABEL || hole == STENCIL_PREEMPT ||
	       hole == STENCIL_PREEMPT_RETURN || hole == STENCIL_NEXT || hole == STENCIL_EXIT ||
	       hole == STENCIL_LEAVE || hole == STENCIL_NATIVE || hole == STENCIL_FAILED ||
	       hole == STENCIL_TAIL_FAILED || hole == STENCIL_COLLECT || hole == STENCIL_EXITED;
}

/* What the processor runs after it. A direct jump's target is a byte of the function, in `to` until all are read. */
static bool read_flow(struct code *c, struct code_step *s, csh capstone, const cs_insn *in)
{
	const cs_x86 *x = &in->detail->x86;
	bool is_direct = x->op_count == 1 && x->operands[0].type == X86_OP_IMM;

	s->to = NO_STEP;
	if (cs_insn_group(capstone, in, CS_GRP_RET) || in->id == X86_INS_RET) {
		s->flow = FLOW_RETURN;
		return true;
	}
	if (in->id == X86_INS_CALL && s->patch_count == 1 && is_way(s->patches[0].hole)) {
		s->flow = FLOW_JUMP;
		s->drops = true;
		return true;
	}
	if (in->id == X86_INS_CALL) {
		s->calls = true;
		return is_direct && s->patch_count == 0 ? refuse(c, "calls itself") : true;
	}
	if (in->id == X86_INS_JMP && !is_direct) {
		s->flow = FLOW_INDIRECT;
		return true;
	}
	if (in->id == X86_INS_JMP)
		s->flow = FLOW_JUMP;
	else if (((in->bytes[0] & 0xf0) == BYTE_SHORT_BRANCH && in->size == 2) ||
		 (in->bytes[0] == 0x0f && (in->bytes[1] & 0xf0) == BYTE_BRANCH && in->size == 6))
		s->flow = FLOW_BRANCH;
	else if (cs_insn_group(capstone, in, CS_GRP_JUMP) || cs_insn_group(capstone, in, CS_GRP_INT) ||
		 in->id == X86_INS_UD2)
		return refuse(c, "goes nowhere known: %s %s", in->mnemonic, in->op_str);
	s->condition = in->bytes[in->size == 6] & 15;
	if (s->flow != FLOW_ON && s->patch_count == 0)
		s->to = (int)x->operands[0].imm;
	return true;
}

/* Each hole where it belongs: ways in jumps, functions in calls, numbers in what is neither. */
static bool hold_patches(struct code *c, const struct code_step *s, const cs_insn *in)
{
	for (unsigned i = 0; i < s->patch_count; i++) {
		enum stencil_hole hole = s->patches[i].hole;
		bool is_relative = s->patches[i].form == STENCIL_REL32;

		if (s->calls != (hole == STENCIL_FUNCTION))
			return refuse(c, "a function is used, and not called: %s %s", in->mnemonic, in->op_str);
		if ((s->flow == FLOW_JUMP || s->flow == FLOW_BRANCH) != is_way(hole))
			return refuse(c, "a way out is no jump: %s %s", in->mnemonic, in->op_str);
		if (is_relative != (is_way(hole) || hole == STENCIL_FUNCTION || hole == STENCIL_HERE))
			return refuse(c, "a hole of another form: %s %s", in->mnemonic, in->op_str);
	}
	return true;
}

/* Has the instruction a displacement or a constant of that size at that byte of the function? */
static bool is_number_at(const cs_insn *in, size_t at, size_t bytes)
{
	const cs_x86_encoding *e = &in->detail->x86.encoding;

	return at > in->address && at + bytes <= in->address + in->size &&
	       ((at - in->address == e->disp_offset && bytes == e->disp_size) ||
		(at - in->address == e->imm_offset && bytes == e->imm_size));
}

static bool read_step(struct code *c, struct code_step *s, csh capstone, const cs_insn *in,
		      const struct code_reloc **relocs, const struct code_reloc *end)
{
	bool is_pure = false;

	for (; *relocs < end && (*relocs)->at < in->address + in->size; (*relocs)++) {
		if (!is_number_at(in, (*relocs)->at, (*relocs)->patch.form == STENCIL_ABS64 ? 8 : 4) ||
		    s->patch_count == CODE_STEP_PATCHES)
			return refuse(c, "a relocation of what is no number in an instruction");
		is_pure = (*relocs)->is_pure;
		s->patches[s->patch_count] = (*relocs)->patch;
		s->patches[s->patch_count++].at = (uint16_t)((*relocs)->at - in->address);
	}
	s->length = (uint8_t)in->size;
	s->depth = -1;
	if (!read_flow(c, s, capstone, in))
		return false;
	if (in->id == X86_INS_NOP && s->patch_count == 0) /* its operands are padding: gcc 14 names a segment there */
		return true;
	if (!read_registers(c, s, capstone, in) || !hold_patches(c, s, in))
		return false;
	s->writes = s->calls ? !is_pure : s->writes;
	return true;
}

/* Targets of jumps from bytes to steps. */
static bool settle_targets(struct code *c, const uint8_t *bytes)
{
	for (int i = 0; i < c->count; i++) {
		struct code_step *s = &c->steps[i];
		int target = s->to;

		if (target == NO_STEP)
			continue;
		s->to = NO_STEP;
		for (int k = 0; k < c->count; k++)
			if (c->steps[k].bytes - bytes == target)
				s->to = k;
		if (s->to == NO_STEP)
			return refuse(c, "jumps out of itself");
	}
	return true;
}

static bool read_steps(struct code *c, csh capstone, const uint8_t *bytes, size_t n, const struct code_reloc *relocs,
		       size_t reloc_count)
{
	const struct code_reloc *next = relocs;
	const uint8_t *at = bytes;
	uint64_t address = 0;
	size_t left = n;
	cs_insn *in = cs_malloc(capstone);
	bool ok = in != NULL;

	while (ok && left > 0) {
		struct code_step *s = &c->steps[c->count];
		const uint8_t *here = at;

		if (c->count == CODE_STEPS_MAX)
			ok = refuse(c, "is too long");
		else if (!cs_disasm_iter(capstone, &at, &left, &address, in))
			ok = refuse(c, "unknown instruction at byte %zu", n - left);
		else {
			*s = (struct code_step){ .bytes = here };
			c->count++;
			ok = read_step(c, s, capstone, in, &next, relocs + reloc_count);
		}
	}
	if (in != NULL)
		cs_free(in, 1);
	return ok && settle_targets(c, bytes);
}

/* ---- shortening */

static bool goes_out_by(const struct code_step *s, enum stencil_hole hole)
{
	return s->patch_count == 1 && s->patches[0].hole == hole;
}

/* A jump or branch to a jump goes where that one goes. */
static void thread_jumps(struct code *c)
{
	for (int i = 0; i < c->count; i++) {
		struct code_step *s = &c->steps[i];

		for (int hops = 0; s->to != NO_STEP && hops < c->count; hops++) {
			const struct code_step *to = &c->steps[s->to];

			if (to->flow != FLOW_JUMP || to->drops)
				break;
			s->to = to->to;
			if (to->to == NO_STEP) {
				s->patch_count = 1;
				s->patches[0] = to->patches[0];
			}
		}
	}
}

/* Takes a step away; jumps to it go to the one behind it. */
static void remove_step(struct code *c, int at)
{
	memmove(&c->steps[at], &c->steps[at + 1], sizeof c->steps[0] * (size_t)(c->count - at - 1));
	c->count--;
	for (int i = 0; i < c->count; i++)
		if (c->steps[i].to > at)
			c->steps[i].to--;
}

/* ---- proving */

struct path {
	int step, depth;
	bool dirty;
};

/* Notes that a step is reached so; pushes it when that is news. */
static bool reach(struct code *c, int at, int depth, bool dirty, struct path *stack, int *n)
{
	struct code_step *s;

	if (at >= c->count)
		return refuse(c, "runs past its end");
	s = &c->steps[at];
	if (s->reached && s->depth != depth)
		return refuse(c, "has a stack of two depths");
	if (s->reached && (s->dirty || !dirty))
		return true;
	s->reached = true;
	s->depth = depth;
	s->dirty |= dirty;
	stack[(*n)++] = (struct path){ at, depth, s->dirty };
	return true;
}

static bool hold_step(struct code *c, const struct code_step *s, int depth, bool dirty)
{
	bool is_out = s->flow == FLOW_INDIRECT || (s->flow != FLOW_ON && s->to == NO_STEP);

	if (depth < 0 || s->stack_use > depth)
		return refuse(c, "uses the stack of its caller");
	if (s->calls && depth % 16 != 8)
		return refuse(c, "calls with a stack that is not aligned");
	if (s->flow == FLOW_RETURN)
		return refuse(c, "returns");
	if (is_out && depth != 0 && !s->drops)
		return refuse(c, "leaves with a stack of its own");
	if (is_out && dirty && goes_out_by(s, STENCIL_EXIT))
		return refuse(c, "leaves to be done again when it has changed something");
	return true;
}

/* Every way through it. A step is pushed twice at most: when it is reached, and when it turns out to be dirty. */
static bool prove(struct code *c)
{
	struct path stack[2 * CODE_STEPS_MAX];
	int n = 0;

	if (!reach(c, 0, 0, false, stack, &n))
		return false;
	while (n > 0) {
		struct path at = stack[--n];
		const struct code_step *s = &c->steps[at.step];
		int depth = at.depth + s->stack;
		bool dirty = at.dirty || s->writes;

		if (!hold_step(c, s, at.depth, at.dirty))
			return false;
		if ((s->flow == FLOW_ON || s->flow == FLOW_BRANCH) && !reach(c, at.step + 1, depth, dirty, stack, &n))
			return false;
		if (s->to != NO_STEP && !reach(c, s->to, depth, dirty, stack, &n))
			return false;
	}
	return true;
}

/* ---- laying out */

/* The last steps are a branch to the next operation and a jump elsewhere: the other way round the jump can go. */
static void turn_last_branch(struct code *c)
{
	struct code_step *branch, *jump, turned;

	if (c->count < 2)
		return;
	branch = &c->steps[c->count - 2];
	jump = branch + 1;
	if (branch->flow != FLOW_BRANCH || jump->flow != FLOW_JUMP || jump->to != NO_STEP ||
	    jump->drops || !goes_out_by(branch, STENCIL_NEXT))
		return;
	turned = *branch;
	branch->condition ^= 1;
	branch->patches[0] = jump->patches[0];
	jump->patches[0] = turned.patches[0];
}

static void shorten(struct code *c)
{
	const struct code_step *last;

	for (int i = c->count - 1; i >= 0; i--)
		if (!c->steps[i].reached)
			remove_step(c, i);
	turn_last_branch(c);
	last = &c->steps[c->count - 1];
	if (c->count > 1 && last->flow == FLOW_JUMP && !last->drops && goes_out_by(last, STENCIL_NEXT))
		c->count--; /* no step goes to a jump any more */
}

/* Of `add $depth,%rsp`. */
static unsigned drop_bytes(const struct code_step *s)
{
	return !s->drops || s->depth == 0 ? 0 : s->depth <= INT8_MAX ? 4 : 7;
}

static unsigned step_bytes(const struct code_step *s)
{
	if (s->drops)
		return drop_bytes(s) + 5;
	if (s->flow == FLOW_JUMP)
		return s->to == NO_STEP || s->is_long ? 5 : 2;
	if (s->flow == FLOW_BRANCH)
		return s->to == NO_STEP || s->is_long ? 6 : 2;
	return s->length;
}

/* Gives each step its place: jumps begin short, and become long until all fit. */
static void place_steps(struct code *c)
{
	bool changed = true;

	while (changed) {
		unsigned at = 0;

		changed = false;
		for (int i = 0; i < c->count; i++) {
			c->steps[i].offset = at;
			at += step_bytes(&c->steps[i]);
		}
		c->size = at;
		for (int i = 0; i < c->count; i++) {
			struct code_step *s = &c->steps[i];
			int distance;

			if (s->to == NO_STEP || s->is_long)
				continue;
			distance = (int)c->steps[s->to].offset - (int)(s->offset + step_bytes(s));
			changed |= s->is_long = distance < -128 || distance > 127;
		}
	}
}

/* Returns where the next instruction goes. */
static uint8_t *put_drop(uint8_t *at, const struct code_step *s)
{
	unsigned bytes = drop_bytes(s);
	int32_t depth = s->depth;

	if (bytes == 0)
		return at;
	memcpy(at, (const uint8_t[]){ 0x48, bytes == 4 ? 0x83 : 0x81, 0xc4 }, 3);
	memcpy(at + 3, &depth, bytes - 3);
	return at + bytes;
}

static void put_jump(struct code *c, const struct code_step *s)
{
	uint8_t *at = put_drop(c->bytes + s->offset, s);
	unsigned bytes = step_bytes(s);
	int32_t distance = s->to == NO_STEP ? 0 : (int32_t)c->steps[s->to].offset - (int32_t)(s->offset + bytes);

	if (bytes == 2) {
		*at++ = s->flow == FLOW_JUMP ? BYTE_SHORT_JUMP : BYTE_SHORT_BRANCH | s->condition;
		*at = (uint8_t)distance;
		return;
	}
	if (s->flow == FLOW_JUMP) {
		*at++ = BYTE_JUMP;
	} else {
		*at++ = 0x0f;
		*at++ = BYTE_BRANCH | s->condition;
	}
	memcpy(at, &distance, sizeof distance);
}

static void put_step(struct code *c, const struct code_step *s)
{
	if (s->flow == FLOW_JUMP || s->flow == FLOW_BRANCH)
		put_jump(c, s);
	else
		memcpy(c->bytes + s->offset, s->bytes, s->length);
	for (unsigned i = 0; i < s->patch_count; i++) {
		struct stencil_patch *p = &c->patches[c->patch_count++];

		*p = s->patches[i];
		if (is_way(p->hole)) {
			p->at = (uint16_t)(s->offset + step_bytes(s) - 4);
			p->addend = -4;
		} else {
			p->at = (uint16_t)(s->offset + p->at);
			memset(c->bytes + p->at, 0, p->form == STENCIL_ABS64 ? 8 : 4);
		}
	}
}

static bool lay_out(struct code *c)
{
	size_t patches = 0;

	place_steps(c);
	for (int i = 0; i < c->count; i++)
		patches += c->steps[i].patch_count;
	if (c->size > CODE_BYTES_MAX || patches > CODE_PATCHES_MAX)
		return refuse(c, "is too long");
	for (int i = 0; i < c->count; i++)
		put_step(c, &c->steps[i]);
	return true;
}

bool code_only_leaves(const struct code *c)
{
	return c->count == 1 && goes_out_by(&c->steps[0], STENCIL_EXIT);
}

bool code_make(struct code *c, const uint8_t *bytes, size_t n, const struct code_reloc *relocs, size_t reloc_count)
{
	csh capstone;
	bool ok;

	c->count = 0;
	c->size = c->patch_count = 0;
	c->why[0] = 0;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &capstone) != CS_ERR_OK)
		return refuse(c, "capstone does not know x86-64");
	cs_option(capstone, CS_OPT_DETAIL, CS_OPT_ON);
	ok = read_steps(c, capstone, bytes, n, relocs, reloc_count);
	cs_close(&capstone);
	if (!ok)
		return false;
	thread_jumps(c);
	if (!prove(c))
		return false;
	shorten(c);
	if (code_only_leaves(c))
		return refuse(c, "is the loop's");
	return lay_out(c);
}
