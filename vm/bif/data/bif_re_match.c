/* SPDX-License-Identifier: Apache-2.0 */
/* Matches of module re: how they run, and what they give back. */
#include "base/alloc.h"
#include "base/clock.h"
#include "bif/bif.h"
#include "bif/data/bif_re.h"
#include "data/iolist.h"
#include "data/number.h"
#include "heap/copy.h"
#include "proc/sched.h"
#include "proc/worker.h"

enum {
	BYTES_A_REDUCTION = 128,
	WORK_A_REDUCTION = 16,
	REDS_MOST = 1 << 30
};

/* ---- what a match gives back */

struct answer {
	Process *p;
	const struct regex *regex;
	const struct regex_match *m;
	Term type;           /* index, list, binary */
	Term subject;        /* as given */
	const uint8_t *bytes;
};

/* The part that group i matched; i may be no group at all. */
static Term put_group(const struct answer *a, int64_t i)
{
	struct heap *h = &a->p->heap;
	size_t from = PCRE2_UNSET, to = 0;

	if (i >= 0 && i < a->m->count) {
		from = a->m->places[2 * i];
		to = a->m->places[2 * i + 1];
	}
	/* \K in a lookahead may set the start behind the end. */
	if (from != PCRE2_UNSET && to < from)
		to = from;
	if (a->type == am_index) {
		if (from == PCRE2_UNSET)
			return heap_tuple(h, SMALL(-1), SMALL(0));
		return heap_tuple(h, term_from_small((int64_t)from), term_from_small((int64_t)(to - from)));
	}
	if (from == PCRE2_UNSET)
		from = to = 0;
	if (a->type == am_list)
		return heap_list_bytes(h, a->bytes + from, to - from, NIL);
	if (term_is_bitstring(a->subject))
		return binary_sub(h, a->subject, (uint64_t)from * 8, (uint64_t)(to - from) * 8);
	return binary_put(h, a->bytes + from, to - from);
}

/* Of the groups with that name the first that matched. */
static int64_t find_named(const struct answer *a, const char *name)
{
	struct regex_names names = regex_names(a->regex);
	const char *at;
	uint32_t group;
	int64_t found = -1;

	for (uint32_t i = 0; (at = regex_name(&names, i, &group)) != NULL; i++) {
		if (strcmp(at, name) != 0)
			continue;
		if ((int64_t)group < a->m->count && a->m->places[2 * group] != PCRE2_UNSET)
			return group;
		found = group;
	}
	return found;
}

static Term put_from(const struct answer *a, int64_t first)
{
	Term list = NIL;

	for (int64_t i = a->m->count - 1; i >= first; i--)
		list = heap_cons(&a->p->heap, put_group(a, i), list);
	return list;
}

static Term put_all_names(const struct answer *a)
{
	struct regex_names names = regex_names(a->regex);
	bool has_option = re_may_share_names(a->regex);
	Term list = NIL, *link = &list;
	const char *name, *last = NULL;
	uint32_t group;

	for (uint32_t i = 0; (name = regex_name(&names, i, &group)) != NULL; i++) {
		if (has_option && last != NULL && strcmp(name, last) == 0)
			continue;
		last = name;
		*link = heap_cons(&a->p->heap, put_group(a, has_option ? find_named(a, name) : (int64_t)group), NIL);
		link = &cons_ptr(*link)[1];
	}
	return list;
}

/* *t: the part for a group given by number, atom or text. */
static bool put_named(const struct answer *a, Term spec, Term *t)
{
	size_t n;
	uint8_t *name;
	int64_t i;

	if (num_get_int64(spec, &i)) {
		*t = put_group(a, i);
		return true;
	}
	if (term_is_atom(spec)) {
		*t = put_group(a, find_named(a, atom_text(spec, &n)));
		return true;
	}
	name = iolist_to_bytes(spec, &n);
	if (name == NULL)
		return false;
	*t = put_group(a, find_named(a, (const char *)name));
	mem_free(name);
	return true;
}

static Term put_listed(const struct answer *a, Term specs)
{
	Term list = NIL, *link = &list, t;

	for (; term_is_cons(specs); specs = cons_tail(specs)) {
		if (!put_named(a, cons_head(specs), &t))
			return exc_badarg(a->p);
		*link = heap_cons(&a->p->heap, t, NIL);
		link = &cons_ptr(*link)[1];
	}
	return term_is_nil(specs) ? list : exc_badarg(a->p);
}

static Term put_answer(const struct answer *a, Term values)
{
	Term list;

	switch (values) {
	case am_none:
	case NIL:
		return am_match;
	case TERM_NONE:
	case am_all:
		list = put_from(a, 0);
		break;
	case am_all_but_first:
		list = put_from(a, 1);
		break;
	case am_first:
		list = heap_cons(&a->p->heap, put_group(a, 0), NIL);
		break;
	case am_all_names:
		if (regex_names(a->regex).count == 0)
			return am_match;
		list = put_all_names(a);
		break;
	default:
		list = term_is_cons(values) ? put_listed(a, values) : exc_badarg(a->p);
		break;
	}
	return list != TERM_NONE ? heap_tuple(&a->p->heap, am_match, list) : TERM_NONE;
}

/* ---- running */

static Term put_no_match(Process *p, const struct re_options *o, int result)
{
	switch (result) {
	case PCRE2_ERROR_NOMATCH:
	case PCRE2_ERROR_RECURSELOOP:
		return am_nomatch;
	case PCRE2_ERROR_MATCHLIMIT:
		return o->report_errors ? heap_tuple(&p->heap, am_error, am_match_limit) : (Term)am_nomatch;
	case PCRE2_ERROR_DEPTHLIMIT:
	case PCRE2_ERROR_HEAPLIMIT:
		return o->report_errors ? heap_tuple(&p->heap, am_error, am_match_limit_recursion) : (Term)am_nomatch;
	default:
		return exc_badarg(p);
	}
}

/* ---- a match that takes long: on a worker thread, from its beginning, while the process waits. PCRE2 can be stopped,
 * by callouts between the items of the pattern, but not be resumed. */

enum match_state { MATCH_RUNS, MATCH_DONE /* the process's */, MATCH_DROPPED /* the worker's */ };

struct match_job {
	struct worker_job job; /* first */
	enum worker_lane lane;
	_Atomic int state;
	Process *p;          /* counted */
	struct re_options o;
	struct fragment *kept; /* {Subject, Capture} */
	Term pair;
	const uint8_t *bytes; /* of the subject: kept's, or scratch */
	uint8_t *scratch;
	size_t n;
	const struct regex *regex; /* a share */
	struct regex_match m;
	uint64_t work;       /* the worker's, until it is done */
	int result;
};

static void free_match(struct match_job *j)
{
	if (j->m.data != NULL)
		pcre2_match_data_free(j->m.data);
	regex_release(j->regex);
	if (j->kept != NULL)
		fragment_free(j->kept);
	mem_free(j->scratch);
	mem_free(j);
}

static bool stop_dropped(void *arg, uint32_t work)
{
	struct match_job *j = arg;

	j->work += work;
	worker_pause();
	return atomic_load_explicit(&j->state, memory_order_relaxed) == MATCH_DROPPED;
}

/* On the worker. */
static void run_match(struct worker_job *job)
{
	struct match_job *j = (struct match_job *)job;
	struct regex_limits limits = j->o.limits;
	Process *p = j->p;
	int state = MATCH_RUNS;

	limits.stop = stop_dropped;
	limits.arg = j;
	if (atomic_load(&j->state) != MATCH_DROPPED)
		j->result = regex_match(j->regex, j->bytes, j->n, j->o.offset, j->o.run, &limits, &j->m);
	if (atomic_compare_exchange_strong(&j->state, &state, MATCH_DONE))
		process_unblock(p);
	else
		free_match(j);
	process_unref(p);
}

static void drop_match(Process *p, void *arg)
{
	struct match_job *j = arg;
	int state = MATCH_RUNS;

	if (worker_cancel(j->lane, &j->job)) {
		free_match(j);
		process_unref(p);
	} else if (!atomic_compare_exchange_strong(&j->state, &state, MATCH_DROPPED)) {
		free_match(j);
	}
}

/* What took long as well, though on no scheduler. */
static int work_reds(uint64_t work)
{
	return work / WORK_A_REDUCTION < REDS_MOST ? (int)(work / WORK_A_REDUCTION) : REDS_MOST;
}

static Term finish_match(Process *p, void *arg)
{
	struct match_job *j = arg;
	struct answer a;
	Term t;

	if (atomic_load(&j->state) != MATCH_DONE)
		return exc_wait(p, finish_match, drop_match, j);
	process_bump(p, work_reds(j->work));
	heap_adopt_fragment(&p->heap, j->kept);
	j->kept = NULL;
	if (j->o.capture != TERM_NONE)
		j->o.capture = tuple_get(j->pair, 2);
	a = (struct answer){ p,
			     j->regex,
			     &j->m,
			     j->o.capture != TERM_NONE ? j->o.capture_type : (Term)am_index,
			     tuple_get(j->pair, 1),
			     j->bytes };
	t = j->result > 0 ? put_answer(&a, j->o.capture) : put_no_match(p, &j->o, j->result);
	free_match(j);
	return t;
}

/* bytes: the subject's own, or what scratch holds. Takes: scratch. */
static Term match_apart(Process *p, const struct regex *regex, const struct re_options *o, Term subject,
			const uint8_t *bytes, size_t n, uint8_t *scratch)
{
	struct match_job *j = mem_zalloc(sizeof(*j));
	Term capture = o->capture != TERM_NONE ? o->capture : NIL;
	uint8_t *none;

	*j = (struct match_job){ .job.run = run_match,
				 .lane = regex->is_deaf ? WORKER_ONE : WORKER_TURNS,
				 .p = p,
				 .o = *o,
				 .bytes = bytes,
				 .scratch = scratch,
				 .n = n,
				 .regex = regex_share(regex) };
	j->kept = copy_to_fragment(heap_tuple(&p->heap, term_is_bitstring(subject) ? subject : NIL, capture), &j->pair);
	if (scratch == NULL)
		j->bytes = binary_bytes(tuple_get(j->pair, 1), &n, &none);
	process_ref(p);
	exc_wait(p, finish_match, drop_match, j);
	worker_submit(j->lane, &j->job);
	return TERM_NONE;
}

/* GRACE_NS: how long a match may still go on when p has no reductions left: what is nearly done need not begin anew.
 * CROWDED_WORK: about a tenth of a millisecond, for each of many processes that match for long. */
enum { GRACE_NS = 500000, CROWDED_WORK = 8192 };

struct grace {
	Process *p;
	uint64_t work, charged;
	int64_t end_ns;      /* 0: there were reductions */
};

/* The clock of time slices takes p's reductions away (proc/slice_clock.h), so it need not be read here before that. */
static bool is_slice_over(void *arg, uint32_t work)
{
	struct grace *g = arg;

	g->work += work;
	if (g->work - g->charged >= WORK_A_REDUCTION) {
		process_bump(g->p, work_reds(g->work - g->charged));
		g->charged = g->work;
		if (g->work >= CROWDED_WORK && worker_turns_are_wanted())
			return true;
	}
	if (likely(*(volatile int32_t *)&g->p->reds_left > 0))
		return false;
	if (g->end_ns == 0)
		g->end_ns = clock_monotonic_ns() + GRACE_NS;
	return clock_monotonic_ns() > g->end_ns;
}

/* What no callout has seen: whether a byte that the pattern needs is there is looked at first. */
static void charge_bytes(const struct grace *g, size_t bytes)
{
	int reds = (int)(bytes / BYTES_A_REDUCTION), charged = work_reds(g->charged);

	if (reds > charged)
		process_bump(g->p, reds - charged);
}

/* Takes: scratch. */
static Term run_bytes(Process *p, const struct regex *regex, const struct re_options *o, Term subject,
		      const uint8_t *bytes, size_t n, uint8_t *scratch)
{
	struct regex_match m;
	struct grace grace = { .p = p };
	struct regex_limits limits = { o->limits.match, o->limits.depth, is_slice_over, &grace };
	int result = regex_try(regex, bytes, n, o->offset, o->run, &limits, &m);
	struct answer a = { p, regex, &m, o->capture != TERM_NONE ? o->capture_type : (Term)am_index, subject, bytes };
	Term t;

	if (result == REGEX_STOPPED)
		return match_apart(p, regex, o, subject, bytes, n, scratch);
	charge_bytes(&grace, o->offset < n ? (result > 0 && m.places[1] > o->offset ? m.places[1] : n) - o->offset : 0);
	t = result > 0 ? put_answer(&a, o->capture) : put_no_match(p, o, result);
	pcre2_match_data_free(m.data);
	mem_free(scratch);
	return t;
}

Term re_match(Process *p, const struct regex *regex, const struct re_options *o, Term subject)
{
	uint8_t *scratch;
	size_t n;
	const uint8_t *bytes = binary_bytes(subject, &n, &scratch);

	if (bytes == NULL)
		bytes = scratch = iolist_to_bytes(subject, &n);
	if (bytes == NULL)
		return exc_badarg(p);
	return run_bytes(p, regex, o, subject, bytes, n, scratch);
}
