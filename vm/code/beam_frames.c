/* SPDX-License-Identifier: Apache-2.0 */
/* Holds the frames of decoded code against each other: along every path a frame is made once, given back as large as it
 * was made, and there for the calls that return into it; y registers stand in it. Damaged code that is still made of
 * operations would otherwise return to what is no address.
 * While a catch is active its frame stays as it is, as its handler finds it so, and nothing else uses the register that
 * it stands in: a copy would lead into the handler with another frame. Of several the one begun last has the lowest
 * register, as an exception looks for it from there up; and its handler first takes the exception: until then x0 holds
 * no term. Not held: that y registers are written before they are used.
 * One walk in the code's order: compilers place a label behind what leads to it, but for loops, where the code before
 * runs into it. A label that is led to only from behind is refused. */
#include "code/beam_parse.h"
#include "code/genops.h"

/* Besides the words of a frame. MIXED - n: one or another, of n words at least, which is well where the code only
 * raises. */
enum { NO_FRAME = -1, UNREACHED = -2, UNSEEN = -3, MIXED = -4 };

/* One that is active, and those around it, whose registers are higher. There is one of each, so that the same ones are
 * told by their address: how deep hostile code nests them costs no time. */
struct catch {
	uint64_t y;
	const struct catch *outer;
	const struct catch *jump; /* some way out: a search takes as many steps as the logarithm of the depth */
	const struct catch *next; /* in its bucket */
	uint32_t depth;           /* 1: none around it */
	uint32_t number;          /* from 1 on, as they were made */
};

/* What stands at a place of the code. */
struct place {
	int32_t frame;
	bool is_behind;              /* of a label: the walk has been there */
	bool is_handler;             /* nothing has taken the exception yet */
	const struct catch *catches; /* the innermost; NULL: none */
};

struct walk {
	struct beam_parse *p;
	const struct genop *op;
	struct place *at_label;
	struct place now;
	/* Catches that were begun: a bucket for each label. No more are made than there are labels, as each is its
	 * handler's. */
	const struct catch **buckets;
	uint32_t catch_count;
};

static bool fail_frame(const struct walk *w, const char *what)
{
	return beam_parse_fail(w->p, "Code: %s at byte %u: %s", genop_name(w->op->op), w->op->offset, what);
}

static bool expect(const struct walk *w, int64_t frame)
{
	return w->now.frame == frame || fail_frame(w, "another frame than there is");
}

/* ---- labels */

/* So many y registers are there. */
static inline int32_t words_of(int32_t frame)
{
	return frame >= 0 ? frame : frame <= MIXED ? MIXED - frame : 0;
}

static int32_t mix(int32_t a, int32_t b)
{
	int32_t least = words_of(a) < words_of(b) ? words_of(a) : words_of(b);

	return a == b ? a : MIXED - least;
}

/* What stands at the label when w->now joins it. */
static bool join(const struct walk *w, struct place *l)
{
	if (l->frame == UNSEEN) {
		l->frame = w->now.frame;
		l->catches = w->now.catches;
		return true;
	}
	l->frame = mix(l->frame, w->now.frame);
	return l->catches == w->now.catches || fail_frame(w, "a label where other catches are active");
}

static bool lead_back(const struct walk *w, const struct place *l)
{
	if (l->frame != w->now.frame && !(l->frame <= MIXED && words_of(w->now.frame) >= words_of(l->frame)))
		return fail_frame(w, "a label where the frame is another");
	return l->catches == w->now.catches || fail_frame(w, "a label where other catches are active");
}

static inline bool lead_to(struct walk *w, uint64_t label)
{
	struct place *l = &w->at_label[label];

	if (label == 0 || likely(l->frame == w->now.frame && l->catches == w->now.catches))
		return true;
	return l->is_behind ? lead_back(w, l) : join(w, l);
}

static bool arrive(struct walk *w, uint32_t op_index, uint64_t label)
{
	const struct beam_file *f = w->p->f;
	const struct beam_label *l = &f->labels[label];
	struct place *at = &w->at_label[label];
	bool from_handler = w->now.frame != UNREACHED && w->now.is_handler;

	at->is_behind = true;
	if (l->entry || (l->function < f->function_count && op_index < f->functions[l->function].first_op)) {
		at->frame = w->now.frame = NO_FRAME; /* a function's head or entry */
		at->catches = w->now.catches = NULL;
		w->now.is_handler = false;
		return true;
	}
	if ((w->now.frame != UNREACHED || at->frame == UNSEEN) && !join(w, at))
		return false;
	w->now = *at;
	w->now.is_handler |= from_handler;
	return true;
}

/* ---- operands: y registers, and labels that the code may go on at */

static bool holds_no_catch(const struct walk *w, uint64_t y)
{
	const struct catch *c = w->now.catches;

	for (; c != NULL && c->y < y; w->p->f->catch_steps++)
		c = c->jump != NULL && c->jump->y <= y ? c->jump : c->outer;
	return c == NULL || c->y != y || fail_frame(w, "a register in which a catch stands");
}

static bool check_operand(struct walk *w, const struct operand *o)
{
	if (o->kind == OPND_LABEL)
		return lead_to(w, o->u);
	if (o->kind == OPND_Y)
		return holds_no_catch(w, o->u);
	for (uint32_t i = 0; o->kind == OPND_LIST && i < o->count; i++)
		if (!check_operand(w, &o->items[i]))
			return false;
	return true;
}

static __attribute__((noinline)) bool check_each_operand(struct walk *w)
{
	for (unsigned i = 0; i < w->op->count; i++)
		if (!check_operand(w, &w->op->args[i]))
			return false;
	return true;
}

/* beam_code_check has noted what there is to be seen. */
static inline bool check_operands(struct walk *w)
{
	const struct genop *op = w->op;

	if (unlikely(op->y_end > words_of(w->now.frame)))
		return fail_frame(w, "a register outside the frame");
	if (op->leads && !lead_to(w, op->args[0].u))
		return false;
	return likely(!op->leads_on && (op->y_end == 0 || w->now.catches == NULL)) || check_each_operand(w);
}

/* ---- operations */

static bool needs_frame(struct walk *w)
{
	return w->now.frame >= 0 || fail_frame(w, "no frame to return to");
}

static bool has_no_catch(const struct walk *w)
{
	return w->now.catches == NULL || fail_frame(w, "a catch is active in its frame");
}

static bool allocate(struct walk *w)
{
	bool ok = expect(w, NO_FRAME);

	w->now.frame = (int32_t)w->op->args[0].u;
	return ok;
}

static bool trim(struct walk *w)
{
	int64_t n = (int64_t)w->op->args[0].u;

	if (w->now.frame < n)
		return fail_frame(w, "a frame that is smaller");
	w->now.frame -= (int32_t)n;
	return has_no_catch(w);
}

static bool deallocate(struct walk *w)
{
	bool ok = expect(w, (int64_t)w->op->args[0].u) && has_no_catch(w);

	w->now.frame = NO_FRAME;
	return ok;
}

/* The code goes on elsewhere, or nowhere. */
static bool end(struct walk *w)
{
	w->now.frame = UNREACHED;
	return true;
}

static bool leave(struct walk *w, int64_t frame)
{
	return expect(w, frame) && has_no_catch(w) && end(w);
}

static bool leave_without_frame(struct walk *w)
{
	return leave(w, NO_FRAME);
}

/* Its last operand is the size of the frame that it gives back. */
static bool leave_frame(struct walk *w)
{
	return leave(w, (int64_t)w->op->args[w->op->count - 1].u);
}

static bool call_external(struct walk *w)
{
	/* Compilers do not mind which frame there is when what they call never returns; emit gives none back there. */
	if (export_is_raiser(w->op->args[1].export))
		return end(w);
	switch (w->op->op) {
	case GENOP_call_ext: return needs_frame(w);
	case GENOP_call_ext_only: return leave_without_frame(w);
	default: return leave_frame(w);
	}
}

static uint32_t depth_of(const struct catch *c) { return c != NULL ? c->depth : 0; }
static const struct catch *jump_of(const struct catch *c) { return c != NULL ? c->jump : NULL; }

/* Jumps grow as the digits of a skew binary number do: two of one length become one. */
static const struct catch *jump_from(const struct catch *outer)
{
	const struct catch *near = jump_of(outer), *far = jump_of(near);

	return depth_of(outer) - depth_of(near) == depth_of(near) - depth_of(far) ? far : outer;
}

static const struct catch *make_catch(struct walk *w, uint64_t y, const struct catch **bucket)
{
	const struct catch *outer = w->now.catches;
	struct catch *c = beam_parse_take(w->p, 1, sizeof(*c));

	*c = (struct catch){ .y = y, .outer = outer, .jump = jump_from(outer), .next = *bucket,
			     .depth = depth_of(outer) + 1, .number = ++w->catch_count };
	return *bucket = c;
}

/* The one in register y with those around it that are active now. */
static const struct catch *find_catch(struct walk *w, uint64_t y)
{
	const struct catch *outer = w->now.catches;
	uint64_t hash = (((uint64_t)(outer != NULL ? outer->number : 0) << 32) + y) * 0x9e3779b97f4a7c15;
	uint32_t labels = w->p->f->label_count;

	if (w->buckets == NULL)
		w->buckets = beam_parse_take(w->p, labels, sizeof(*w->buckets));

	const struct catch **bucket = &w->buckets[(hash >> 32) % labels], *c = *bucket;

	for (; c != NULL && (c->y != y || c->outer != outer); c = c->next)
		w->p->f->catch_steps++;
	return c != NULL ? c : make_catch(w, y, bucket);
}

static bool begin_catch(struct walk *w)
{
	struct place *handler = &w->at_label[w->op->args[1].u];
	uint64_t y = w->op->args[0].u;

	if ((int64_t)y >= w->now.frame)
		return fail_frame(w, "a register outside the frame");
	if (w->now.catches != NULL && y >= w->now.catches->y)
		return fail_frame(w, "a register that is not below that of the catch around");
	if (handler->is_behind && !handler->is_handler)
		return fail_frame(w, "a handler that does not take the exception");
	handler->is_handler = true;
	w->now.catches = find_catch(w, y);
	return lead_to(w, w->op->args[1].u);
}

static bool end_catch(struct walk *w)
{
	const struct catch *c = w->now.catches;

	if (c == NULL || c->y != w->op->args[0].u)
		return fail_frame(w, "another catch than the innermost");
	w->now.catches = c->outer;
	w->now.is_handler = false;
	return true;
}

/* After an operation's operands were seen. NULL: it goes on as it came. */
static bool (*const passes[GENOP_LIMIT])(struct walk *w) = {
	[GENOP_allocate] = allocate,
	[GENOP_allocate_heap] = allocate,
	[GENOP_allocate_zero] = allocate,
	[GENOP_allocate_heap_zero] = allocate,
	[GENOP_deallocate] = deallocate,
	[GENOP_trim] = trim,
	[GENOP_catch] = begin_catch,
	[GENOP_try] = begin_catch,
	[GENOP_catch_end] = end_catch,
	[GENOP_try_end] = end_catch,
	[GENOP_try_case] = end_catch,
	[GENOP_call] = needs_frame,
	[GENOP_apply] = needs_frame,
	[GENOP_call_fun] = needs_frame,
	[GENOP_call_fun2] = needs_frame,
	[GENOP_call_last] = leave_frame,
	[GENOP_apply_last] = leave_frame,
	[GENOP_call_only] = leave_without_frame,
	[GENOP_return] = leave_without_frame,
	[GENOP_call_ext] = call_external,
	[GENOP_call_ext_only] = call_external,
	[GENOP_call_ext_last] = call_external,
	[GENOP_func_info] = end,
	[GENOP_jump] = end,
	[GENOP_wait] = end,
	[GENOP_loop_rec_end] = end,
	[GENOP_select_val] = end,
	[GENOP_select_tuple_arity] = end,
	[GENOP_badmatch] = end,
	[GENOP_case_end] = end,
	[GENOP_if_end] = end,
	[GENOP_try_case_end] = end,
	[GENOP_badrecord] = end,
	[GENOP_raise] = end,
	[GENOP_int_code_end] = end,
};

static bool takes_exception(const struct walk *w)
{
	uint8_t op = w->op->op;

	return op == GENOP_line || op == GENOP_catch_end || op == GENOP_try_case ||
	       fail_frame(w, "a handler that does not take the exception");
}

static inline bool walk_on(struct walk *w)
{
	if (unlikely(w->now.is_handler) && !takes_exception(w))
		return false;
	return check_operands(w) && (passes[w->op->op] == NULL || passes[w->op->op](w));
}

bool beam_frames_check(struct beam_parse *p)
{
	struct beam_file *f = p->f;
	struct walk w = { .p = p, .now = { .frame = UNREACHED } };

	w.at_label = beam_parse_take(p, f->label_count, sizeof(*w.at_label));
	for (uint32_t i = 0; i < f->label_count; i++)
		w.at_label[i].frame = UNSEEN;
	for (uint32_t i = 0; i < f->op_count; i++) {
		w.op = &f->ops[i];
		if (w.op->op == GENOP_label ? !arrive(&w, i, w.op->args[0].u)
					    : w.now.frame != UNREACHED && !walk_on(&w))
			return false;
	}
	return true;
}
