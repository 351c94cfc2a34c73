/* SPDX-License-Identifier: Apache-2.0 */
/* Holds the frames of decoded code against each other: along every path a frame is made once, given back as large as it was
 * made, and there for the calls that return into it; y registers stand in it. Damaged code that is still made of
 * operations would otherwise return to what is no address.
 * One walk in the code's order: compilers place a label behind what leads to it, but for loops, where the code before runs
 * into it. A label that is led to only from behind is refused. */
#include "code/beam_parse.h"
#include "code/genops.h"

/* Besides the words of a frame. MIXED - n: one or another, of n words at least, which is well where the code only raises. */
enum { NO_FRAME = -1, UNREACHED = -2, UNSEEN = -3, MIXED = -4 };

struct walk {
	struct beam_parse *p;
	const struct genop *op;
	int64_t *at_label;   /* by label: what stands there */
	bool *is_behind;     /* by label: the walk has been there */
	int64_t now;
};

static bool fail_frame(const struct walk *w, const char *what)
{
	return beam_parse_fail(w->p, "Code: %s at byte %u: %s", genop_name(w->op->op), w->op->offset, what);
}

static bool expect(const struct walk *w, int64_t frame)
{
	return w->now == frame || fail_frame(w, "another frame than there is");
}

/* ---- labels */

/* So many y registers are there. */
static int64_t words_of(int64_t frame)
{
	return frame >= 0 ? frame : frame <= MIXED ? MIXED - frame : 0;
}

static int64_t mix(int64_t a, int64_t b)
{
	int64_t least = words_of(a) < words_of(b) ? words_of(a) : words_of(b);

	return a == b ? a : MIXED - least;
}

static bool lead_to(struct walk *w, uint64_t label)
{
	if (label == 0)
		return true;
	if (w->at_label[label] == UNSEEN)
		w->at_label[label] = w->now;
	else if (!w->is_behind[label])
		w->at_label[label] = mix(w->at_label[label], w->now);
	else if (w->at_label[label] != w->now &&
		 !(w->at_label[label] <= MIXED && words_of(w->now) >= words_of(w->at_label[label])))
		return fail_frame(w, "a label where the frame is another");
	return true;
}

static bool arrive(struct walk *w, uint32_t op_index, uint64_t label)
{
	const struct beam_file *f = w->p->f;
	const struct beam_label *l = &f->labels[label];

	w->is_behind[label] = true;
	if (l->entry || (l->function < f->function_count && op_index < f->functions[l->function].first_op)) {
		w->at_label[label] = w->now = NO_FRAME; /* a function's head or entry */
		return true;
	}
	if (w->at_label[label] == UNSEEN)
		w->at_label[label] = w->now;
	else if (w->now != UNREACHED)
		w->at_label[label] = mix(w->at_label[label], w->now);
	w->now = w->at_label[label];
	return true;
}

/* ---- operands: y registers, and labels that the code may go on at */

static bool check_operand(struct walk *w, const struct operand *o)
{
	if (o->kind == OPND_Y)
		return (int64_t)o->u < words_of(w->now) || fail_frame(w, "a register outside the frame");
	if (o->kind == OPND_LABEL)
		return lead_to(w, o->u);
	for (uint32_t i = 0; o->kind == OPND_LIST && i < o->count; i++)
		if (!check_operand(w, &o->items[i]))
			return false;
	return true;
}

static inline bool is_seen_here(const struct operand *o)
{
	return o->kind == OPND_Y || o->kind == OPND_LABEL || o->kind == OPND_LIST;
}

/* The label of a call is the entry of a function. */
static inline bool check_operands(struct walk *w)
{
	const struct genop *op = w->op;

	if (op->op == GENOP_call || op->op == GENOP_call_only || op->op == GENOP_call_last)
		return true;
	for (unsigned i = 0; i < op->count; i++)
		if (is_seen_here(&op->args[i]) && !check_operand(w, &op->args[i]))
			return false;
	return true;
}

/* ---- operations */

static bool needs_frame(const struct walk *w)
{
	return w->now >= 0 || fail_frame(w, "no frame to return to");
}

static bool trim(struct walk *w)
{
	int64_t n = (int64_t)w->op->args[0].u;

	if (w->now < n)
		return fail_frame(w, "a frame that is smaller");
	w->now -= n;
	return true;
}

static bool leave(struct walk *w, int64_t frame)
{
	bool ok = expect(w, frame);

	w->now = UNREACHED;
	return ok;
}

static bool call_external(struct walk *w)
{
	/* Compilers do not mind which frame there is when what they call never returns. */
	if (export_is_raiser(w->op->args[1].export)) {
		w->now = UNREACHED;
		return true;
	}
	switch (w->op->op) {
	case GENOP_call_ext: return needs_frame(w);
	case GENOP_call_ext_only: return leave(w, NO_FRAME);
	default: return leave(w, (int64_t)w->op->args[2].u);
	}
}

/* After its operands were seen. */
static bool pass(struct walk *w)
{
	const struct operand *a = w->op->args;

	switch (w->op->op) {
	case GENOP_allocate: case GENOP_allocate_heap: case GENOP_allocate_zero: case GENOP_allocate_heap_zero:
		if (!expect(w, NO_FRAME))
			return false;
		w->now = (int64_t)a[0].u;
		return true;
	case GENOP_deallocate:
		if (!expect(w, (int64_t)a[0].u))
			return false;
		w->now = NO_FRAME;
		return true;
	case GENOP_trim: return trim(w);
	case GENOP_call: case GENOP_apply: case GENOP_call_fun: case GENOP_call_fun2: return needs_frame(w);
	case GENOP_call_last: return leave(w, (int64_t)a[2].u);
	case GENOP_apply_last: return leave(w, (int64_t)a[1].u);
	case GENOP_call_only: case GENOP_return: return leave(w, NO_FRAME);
	case GENOP_call_ext: case GENOP_call_ext_only: case GENOP_call_ext_last: return call_external(w);
	case GENOP_func_info: case GENOP_jump: case GENOP_wait: case GENOP_loop_rec_end: case GENOP_select_val:
	case GENOP_select_tuple_arity: case GENOP_badmatch: case GENOP_case_end: case GENOP_if_end: case GENOP_try_case_end:
	case GENOP_badrecord: case GENOP_raise: case GENOP_int_code_end:
		w->now = UNREACHED;
		return true;
	default:
		return true;
	}
}

bool beam_frames_check(struct beam_parse *p)
{
	struct beam_file *f = p->f;
	struct walk w = { .p = p, .now = UNREACHED };

	w.at_label = beam_parse_take(p, f->label_count, sizeof(*w.at_label));
	for (uint32_t i = 0; i < f->label_count; i++)
		w.at_label[i] = UNSEEN;
	w.is_behind = beam_parse_take(p, f->label_count, sizeof(*w.is_behind));
	for (uint32_t i = 0; i < f->op_count; i++) {
		w.op = &f->ops[i];
		if (w.op->op == GENOP_label ? !arrive(&w, i, w.op->args[0].u) :
					      w.now != UNREACHED && !(check_operands(&w) && pass(&w)))
			return false;
	}
	return true;
}
