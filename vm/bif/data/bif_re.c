/* SPDX-License-Identifier: Apache-2.0 */
/* Module re. A compiled pattern is {re_pattern, Groups, Unicode, CrLf, Bytes}, see data/regex_cache.h. What the stock
 * re.erl does itself (global runs, Unicode text in lists) is handed to it, as OTP's own emulator does. */
#include <zlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/release.h"
#include "bif/bif.h"
#include "code/export.h"
#include "data/iolist.h"
#include "data/number.h"
#include "data/regex_cache.h"
#include "data/utf8.h"
#include "heap/copy.h"
#include "proc/sched.h"
#include "proc/worker.h"

enum {
	BYTES_A_REDUCTION = 128,
	WORK_A_REDUCTION = 16,
	REDS_MOST = 1 << 30,
	ERROR_CHARS = 256,
	COMPILED_AT_ONCE = 2048
};

/* ---- options */

struct re_options {
	struct regex_options compile;
	uint32_t run;        /* PCRE2_* of a match */
	struct regex_limits limits;
	size_t offset;
	Term capture, capture_type; /* TERM_NONE without */
	bool only_compile, only_run; /* options of one kind alone were seen */
	bool unicode, global, report_errors, exported;
	unsigned newline_bits, bsr_bits; /* of the options for lines, as PCRE 8 counts them */
};

/* Options without a value. only: 'c' for compiling, 'r' for running, 'b' for both. */
static const struct {
	Term name;
	char only;
	uint32_t compile, run;
} simple_options[] = {
	{ am_anchored, 'b', PCRE2_ANCHORED, PCRE2_ANCHORED },
	{ am_notempty, 'r', 0, PCRE2_NOTEMPTY },
	{ am_notempty_atstart, 'r', 0, PCRE2_NOTEMPTY_ATSTART },
	{ am_notbol, 'r', 0, PCRE2_NOTBOL },
	{ am_noteol, 'r', 0, PCRE2_NOTEOL },
	{ am_report_errors, 'r', 0, 0 },
	{ am_global, 'r', 0, 0 },
	{ am_no_start_optimize, 'c', PCRE2_NO_START_OPTIMIZE, 0 },
	{ am_caseless, 'c', PCRE2_CASELESS, 0 },
	{ am_dollar_endonly, 'c', PCRE2_DOLLAR_ENDONLY, 0 },
	{ am_dotall, 'c', PCRE2_DOTALL, 0 },
	{ am_extended, 'c', PCRE2_EXTENDED, 0 },
	{ am_firstline, 'c', PCRE2_FIRSTLINE, 0 },
	{ am_multiline, 'c', PCRE2_MULTILINE, 0 },
	{ am_no_auto_capture, 'c', PCRE2_NO_AUTO_CAPTURE, 0 },
	{ am_dupnames, 'c', PCRE2_DUPNAMES, 0 },
	{ am_ungreedy, 'c', PCRE2_UNGREEDY, 0 },
	{ am_ucp, 'c', PCRE2_UCP, 0 },
	{ am_never_utf, 'c', PCRE2_NEVER_UTF, 0 },
	{ am_unicode, 'c', PCRE2_UTF, 0 },
	{ am_export, 'c', 0, 0 },
	{ am_bsr_anycrlf, 'b', 0, 0 },
	{ am_bsr_unicode, 'b', 0, 0 },
};

static bool set_simple(struct re_options *o, Term name)
{
	size_t i, n = sizeof(simple_options) / sizeof(simple_options[0]);

	for (i = 0; i < n && simple_options[i].name != name; i++)
		;
	if (i == n || (name == am_export && !release_exports_patterns()))
		return false;
	o->exported |= name == am_export;
	o->compile.flags |= simple_options[i].compile;
	o->run |= simple_options[i].run;
	o->only_compile |= simple_options[i].only == 'c';
	o->only_run |= simple_options[i].only == 'r';
	o->unicode |= name == am_unicode;
	o->global |= name == am_global;
	o->report_errors |= name == am_report_errors;
	o->bsr_bits |= name == am_bsr_anycrlf ? 1 : name == am_bsr_unicode ? 2 : 0;
	return true;
}

/* Of several options each adds the bits that it had with PCRE 8: cr and lf make crlf, and what makes no known number is
 * refused. */
static bool set_newline(struct re_options *o, Term value)
{
	switch (value) {
	case am_cr: o->newline_bits |= 1; return true;
	case am_lf: o->newline_bits |= 2; return true;
	case am_crlf: o->newline_bits |= 3; return true;
	case am_any: o->newline_bits |= 4; return true;
	case am_anycrlf: o->newline_bits |= 5; return true;
	default: return false;
	}
}

static void set_lines(struct re_options *o)
{
	static const uint32_t newlines[8] = {
		0,
		PCRE2_NEWLINE_CR,
		PCRE2_NEWLINE_LF,
		PCRE2_NEWLINE_CRLF,
		PCRE2_NEWLINE_ANY,
		PCRE2_NEWLINE_ANYCRLF,
		REGEX_CONTRADICTION,
		REGEX_CONTRADICTION,
	};
	static const uint32_t bsrs[4] = { 0, PCRE2_BSR_ANYCRLF, PCRE2_BSR_UNICODE, REGEX_CONTRADICTION };

	o->compile.newline = newlines[o->newline_bits];
	o->compile.bsr = bsrs[o->bsr_bits];
}

static bool set_valued(struct re_options *o, Term name, Term value)
{
	uint64_t n;

	if (name == am_newline)
		return set_newline(o, value);
	o->only_run = true;
	if (name == am_capture) {
		o->capture = value;
		o->capture_type = am_index;
		return true;
	}
	if (!num_get_uint64(value, &n) || n > INT32_MAX)
		return false;
	if (name == am_offset)
		o->offset = n;
	else if (name == am_match_limit)
		o->limits.match = (uint32_t)n;
	else if (name == am_match_limit_recursion)
		o->limits.depth = (uint32_t)n;
	else
		return false;
	return true;
}

static bool re_get_options(struct re_options *o, Term list)
{
	*o = (struct re_options){ .capture = TERM_NONE,
				  .limits = { .match = REGEX_NO_LIMIT, .depth = REGEX_NO_LIMIT } };
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term t = cons_head(list);

		if (term_is_tuple_of(t, 3) && tuple_get(t, 1) == am_capture) {
			o->capture = tuple_get(t, 2);
			o->capture_type = tuple_get(t, 3);
			o->only_run = true;
		} else if (term_is_tuple_of(t, 2)) {
			if (!set_valued(o, tuple_get(t, 1), tuple_get(t, 2)))
				return false;
		} else if (!set_simple(o, t)) {
			return false;
		}
	}
	set_lines(o);
	return term_is_nil(list);
}

/* ---- compiling */

/* {error, {Text, Place}}, or {error, {compile, {Text, Place}}}. */
static Term put_compile_error(Process *p, int error, size_t offset, bool in_run)
{
	struct heap *h = &p->heap;
	char text[ERROR_CHARS];
	Term t = heap_list_bytes(h, text, regex_error_text(error, text, sizeof(text)), NIL);

	t = heap_tuple(h, t, term_from_small((int64_t)offset));
	if (in_run)
		t = heap_tuple(h, am_compile, t);
	return heap_tuple(h, am_error, t);
}

/* Takes: the share. */
static Term re_put_pattern(Process *p, const struct regex *regex, bool unicode)
{
	uint8_t *bytes;
	Term image = binary_alloc(&p->heap, regex_image_bytes(regex), &bytes), t = TERM_NONE;

	if (image != TERM_NONE) {
		regex_image_put(regex, bytes);
		t = heap_tuple(&p->heap, am_re_pattern, SMALL(regex_captures(regex)), SMALL(unicode),
			       SMALL(regex_has_crlf(regex)),
			       image);
	}
	regex_release(regex);
	return t != TERM_NONE ? t : exc_system_limit(p);
}

/* The bytes of a pattern's text: its own, or a copy here or in scratch. */
struct source {
	const uint8_t *bytes;
	size_t n;
	uint8_t *scratch;    /* owned, or NULL */
	uint8_t here[256];
};

/* Owns: the caller, s->scratch. Fails: false. */
static bool read_source(struct source *s, Term text)
{
	s->bytes = binary_bytes(text, &s->n, &s->scratch);
	if (s->bytes == NULL) {
		if (iolist_size(text, &s->n) != IOLIST_OK)
			return false;
		s->bytes = s->n <= sizeof(s->here) ? s->here : (s->scratch = mem_try_alloc(s->n));
		if (s->bytes == NULL)
			return false;
		iolist_copy(text, (uint8_t *)s->bytes, s->n);
	}
	s->n = strnlen((const char *)s->bytes, s->n); /* a NUL ends a pattern, as in OTP */
	return true;
}

/* Owns: the caller, a share. Fails: NULL, and *failure is what to return. */
static const struct regex *re_compile_text(Process *p, Term text, const struct re_options *o, bool in_run,
					   Term *failure)
{
	struct source source;
	const struct regex *regex;
	size_t offset;
	int error;

	if (!read_source(&source, text)) {
		*failure = exc_badarg(p);
		return NULL;
	}
	sched_go_outside();
	regex = regex_obtain(source.bytes, source.n, &o->compile, &error, &offset);
	sched_go_inside();
	mem_free(source.scratch);
	if (regex == NULL)
		*failure = in_run && !o->report_errors ? exc_badarg(p) : put_compile_error(p, error, offset, in_run);
	return regex;
}

/* What PCRE2 has to read often, for its bad escapes (data/regex.c), takes as long as the square of its length. */
static bool is_long_pattern(Term text)
{
	size_t n;

	return term_is_bitstring(text) ? binary_size_bytes(text) > COMPILED_AT_ONCE
				       : iolist_size(text, &n) == IOLIST_OK && n > COMPILED_AT_ONCE;
}

/* {re_exported_pattern, Head, Text, Options, Compiled}: any node makes a pattern of it, by re:import/1. The head is
 * OTP's: a name, the checksum of what is compiled, a version, and whether it is of Unicode. By another version than its
 * own OTP compiles the text again. */
enum { EXPORT_HEAD_BYTES = 14, EXPORT_VERSION = 0 };
static const uint8_t export_name[8] = "re-PCRE2";

static void put_export_head(uint8_t *head, Term compiled, bool unicode)
{
	uint8_t *scratch;
	size_t n;
	const uint8_t *bytes = binary_bytes(compiled, &n, &scratch);
	uint32_t sum = __builtin_bswap32((uint32_t)crc32_z(0, bytes, n));

	memcpy(head, export_name, sizeof(export_name));
	memcpy(head + sizeof(export_name), &sum, sizeof(sum));
	head[EXPORT_HEAD_BYTES - 2] = EXPORT_VERSION;
	head[EXPORT_HEAD_BYTES - 1] = unicode;
	mem_free(scratch);
}

static Term put_exported(Process *p, Term *args, Term pattern, bool unicode)
{
	Term compiled = tuple_get(pattern, 5), text;
	uint8_t head[EXPORT_HEAD_BYTES];
	struct source source;

	if (!read_source(&source, args[0]))
		return exc_badarg(p);
	put_export_head(head, compiled, unicode);
	text = binary_put(&p->heap, source.bytes, source.n);
	mem_free(source.scratch);
	return heap_tuple(&p->heap, am_re_exported_pattern, binary_put(&p->heap, head, sizeof(head)), text, args[1],
			  compiled);
}

/* What re:compile/2 gives, or, of what was exported, the pattern alone. */
static Term compile_whole(Process *p, Term *args)
{
	const struct regex *regex;
	struct re_options o;
	Term failure, pattern;

	re_get_options(&o, args[1]);
	regex = re_compile_text(p, args[0], &o, false, &failure);
	pattern = regex != NULL ? re_put_pattern(p, regex, o.unicode) : TERM_NONE;
	if (regex == NULL)
		return failure;
	if (pattern != TERM_NONE && o.exported)
		pattern = put_exported(p, args, pattern, o.unicode);
	return pattern != TERM_NONE ? heap_tuple(&p->heap, am_ok, pattern) : TERM_NONE;
}

static Term import_whole(Process *p, Term *args)
{
	struct re_options o;
	const struct regex *regex;
	Term failure;

	re_get_options(&o, tuple_get(args[0], 4));
	regex = re_compile_text(p, tuple_get(args[0], 3), &o, false, &failure);
	if (regex != NULL)
		return re_put_pattern(p, regex, o.unicode);
	return p->exc_kind != EXC_NONE ? TERM_NONE : exc_badarg(p);
}

/* Is it that of what is compiled, of whatever version? */
static bool is_export_head(Term head, Term compiled, bool unicode)
{
	uint8_t wanted[EXPORT_HEAD_BYTES], *scratch;
	const uint8_t *bytes;
	bool is;
	size_t n;

	if (!term_is_binary(head) || !term_is_binary(compiled))
		return false;
	put_export_head(wanted, compiled, unicode);
	bytes = binary_bytes(head, &n, &scratch);
	is = n == sizeof(wanted) && memcmp(bytes, wanted, n - 2) == 0 && bytes[n - 1] == unicode;
	mem_free(scratch);
	return is;
}

Term bif_re_import_1(Process *p, Term *args)
{
	struct re_options o;
	Term t = args[0];

	if (!term_is_tuple_of(t, 5) || tuple_get(t, 1) != am_re_exported_pattern || !term_is_binary(tuple_get(t, 3)) ||
	    !re_get_options(&o, tuple_get(t, 4)) || o.only_run ||
	    !is_export_head(tuple_get(t, 2), tuple_get(t, 5), o.unicode))
		return exc_badarg(p);
	return is_long_pattern(tuple_get(t, 3)) ? exc_run_lent(p, import_whole, args) : import_whole(p, args);
}

Term bif_re_compile_2(Process *p, Term *args)
{
	struct re_options o;

	if (!re_get_options(&o, args[1]) || o.only_run)
		return exc_badarg_cause(p, am_badopt);
	if (o.unicode && !term_is_binary(args[0]))
		return exc_trap(p, export_get(am_re, am_ucompile, 2), 2, args);
	return is_long_pattern(args[0]) ? exc_run_lent(p, compile_whole, args) : compile_whole(p, args);
}

Term bif_re_compile_1(Process *p, Term *args)
{
	return bif_re_compile_2(p, (Term[]){ args[0], NIL });
}

/* Owns: the caller, a share. Fails: NULL when t is no compiled pattern. */
static const struct regex *re_get_pattern(Term t, bool *unicode)
{
	const struct regex *regex;
	const uint8_t *image;
	uint8_t *scratch;
	size_t n;

	if (!term_is_tuple_of(t, 5) || tuple_get(t, 1) != am_re_pattern)
		return NULL;
	image = binary_bytes(tuple_get(t, 5), &n, &scratch);
	if (image == NULL)
		return NULL;
	regex = regex_acquire(image, n);
	mem_free(scratch);
	*unicode = tuple_get(t, 3) != SMALL(0);
	return regex;
}

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

/* Several groups may have one name by an option, or by (?J) in the pattern. Only the option makes them one, as in
 * OTP. */
static bool re_may_share_names(const struct regex *r)
{
	return (r->options.flags & PCRE2_DUPNAMES) != 0;
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

static Term re_match(Process *p, const struct regex *regex, const struct re_options *o, Term subject)
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

/* A group: its number or its name. */
static bool is_capture_group(Term t)
{
	int64_t i;
	size_t n;

	if (term_is_integer(t))
		return num_get_int64(t, &i) && i >= 0 && i <= INT32_MAX;
	return term_is_atom(t) || iolist_size(t, &n) == IOLIST_OK;
}

static bool is_capture_list(Term t)
{
	while (term_is_cons(t) && is_capture_group(cons_head(t)))
		t = cons_tail(t);
	return term_is_nil(t);
}

static bool re_is_capture(const struct re_options *o)
{
	if (o->capture == TERM_NONE)
		return true;
	if (o->capture_type != am_index && o->capture_type != am_list && o->capture_type != am_binary)
		return false;
	return o->capture == am_all || o->capture == am_none || o->capture == am_all_but_first ||
	       o->capture == am_first || o->capture == am_all_names || is_capture_list(o->capture);
}

/* Does re.erl have to make binaries of the texts, or lists of the result, first? */
static bool needs_urun(const struct re_options *o, Term subject, bool unicode)
{
	bool as_list = o->capture != TERM_NONE && o->capture_type == am_list;

	return unicode && (!term_is_bitstring(subject) || (as_list && !o->global));
}

static Term run_text(Process *p, Term *args, const struct re_options *o)
{
	Term t, trap[3] = { args[0], args[1], args[2] };
	const struct regex *regex;

	if (!term_is_bitstring(args[1]) && !term_is_list(args[1]))
		return exc_badarg(p);
	if (needs_urun(o, args[0], o->unicode) || (o->unicode && !term_is_bitstring(args[1])))
		return exc_trap(p, export_get(am_re, am_urun, 3), 3, trap);
	regex = re_compile_text(p, args[1], o, true, &t);
	if (regex == NULL)
		return t;
	if (o->global) {
		trap[2] = heap_tuple(&p->heap, args[2], term_from_bool(o->only_compile), args[1]);
		trap[1] = re_put_pattern(p, regex, o->unicode);
		if (trap[1] == TERM_NONE)
			return TERM_NONE;
		return exc_trap(p, export_get(am_re, am_grun, 3), 3, trap);
	}
	t = re_match(p, regex, o, args[0]);
	regex_release(regex);
	return t;
}

/* With line ends other than the pattern was compiled for. */
static Term run_recompiled(Process *p, const struct regex *old, const struct re_options *o, Term subject)
{
	struct regex_options changed = old->options;
	const struct regex *regex;
	size_t offset;
	int error;
	Term t;

	if (o->compile.newline != 0)
		changed.newline = o->compile.newline;
	if (o->compile.bsr != 0)
		changed.bsr = o->compile.bsr;
	regex = regex_obtain(old->source, old->source_bytes, &changed, &error, &offset);
	if (regex == NULL)
		return exc_badarg(p);
	t = re_match(p, regex, o, subject);
	regex_release(regex);
	return t;
}

static bool has_other_lines(const struct regex *regex, const struct re_options *o)
{
	return (o->compile.newline != 0 && o->compile.newline != regex->options.newline) ||
	       (o->compile.bsr != 0 && o->compile.bsr != regex->options.bsr);
}

static Term run_compiled(Process *p, Term *args, const struct re_options *o, const struct regex *regex, bool unicode)
{
	Term trap[3] = { args[0], args[1], args[2] };

	if (o->only_compile)
		return exc_badarg(p);
	if (needs_urun(o, args[0], unicode))
		return exc_trap(p, export_get(am_re, am_urun, 3), 3, trap);
	if (o->global) {
		trap[2] = heap_tuple(&p->heap, args[2], am_false);
		return exc_trap(p, export_get(am_re, am_grun, 3), 3, trap);
	}
	if (has_other_lines(regex, o))
		return run_recompiled(p, regex, o, args[0]);
	return re_match(p, regex, o, args[0]);
}

static Term run_pattern(Process *p, Term *args, const struct re_options *o)
{
	bool unicode;
	const struct regex *regex = re_get_pattern(args[1], &unicode);
	Term t;

	if (regex == NULL)
		return exc_badarg(p);
	t = run_compiled(p, args, o, regex, unicode);
	regex_release(regex);
	return t;
}

static Term run_options(Process *p, Term *args, const struct re_options *o)
{
	return term_is_tuple(args[1]) ? run_pattern(p, args, o) : run_text(p, args, o);
}

/* ---- a long subject in Unicode is looked through in steps before the match */

enum { CHECK_AT_ONCE_BYTES = 16 << 10, CHECK_BYTES_A_REDUCTION = 16 };

struct check_steps {
	struct exc_steps steps;
	Term args[3];        /* of re:run/3 */
	const uint8_t *bytes;
	size_t at, n;
	uint8_t *scratch;
};

/* The match itself. */
static Term run_checked(Process *p, struct check_steps *s)
{
	struct re_options o;

	re_get_options(&o, s->args[2]);
	if (o.offset < s->n && (s->bytes[o.offset] & 0xc0) == 0x80) /* within a character */
		return exc_badarg(p);
	o.run |= PCRE2_NO_UTF_CHECK;
	return run_options(p, s->args, &o);
}

static Term check_step(Process *p, struct exc_steps *steps)
{
	struct check_steps *s = (struct check_steps *)steps;
	size_t most = (size_t)(p->reds_left > 0 ? p->reds_left : 1) * CHECK_BYTES_A_REDUCTION + UTF8_MAX_BYTES;
	size_t n = s->n - s->at < most ? s->n - s->at : most, valid = utf8_valid_prefix(s->bytes + s->at, n, NULL);

	process_bump(p, (int)(valid / CHECK_BYTES_A_REDUCTION));
	s->at += valid;
	if (s->at == s->n)
		return run_checked(p, s);
	/* the part's end may cut a character */
	return n < s->n - s->at + valid && n - valid < UTF8_MAX_BYTES ? EXC_MORE : exc_badarg(p);
}

static void check_end(struct exc_steps *steps)
{
	mem_free(((struct check_steps *)steps)->scratch);
}

static bool wants_check(const Term *args, const struct re_options *o)
{
	bool unicode = term_is_tuple_of(args[1], 5) ? tuple_get(args[1], 3) != SMALL(0) : o->unicode;

	return unicode && !(o->run & PCRE2_NO_UTF_CHECK) && !o->global && term_is_binary(args[0]) &&
	       !needs_urun(o, args[0], unicode) && binary_size_bytes(args[0]) > CHECK_AT_ONCE_BYTES;
}

static Term check_first(Process *p, const Term *args, unsigned arity)
{
	struct check_steps *s = mem_alloc(sizeof(*s));

	*s = (struct check_steps){
		.steps = { .step = check_step, .end = check_end, .place = { am_erlang, am_re_run_trap, 3 } }
	};
	memcpy(s->args, args, sizeof(s->args));
	s->bytes = binary_bytes(args[0], &s->n, &s->scratch);
	return exc_run_steps(p, &s->steps, args, arity);
}

/* args: of re:run/3, or as many as the native has. */
static Term run_any(Process *p, Term *args, unsigned arity, uint32_t flags)
{
	struct re_options o;

	if (!re_get_options(&o, args[2]))
		return exc_badarg_cause(p, am_badopt);
	if (!re_is_capture(&o))
		return exc_badarg(p);
	o.run |= flags;
	return wants_check(args, &o) ? check_first(p, args, arity) : run_options(p, args, &o);
}

Term bif_re_run_3(Process *p, Term *args)
{
	return run_any(p, args, 3, 0);
}

Term bif_re_run_2(Process *p, Term *args)
{
	return run_any(p, (Term[]){ args[0], args[1], NIL }, 2, 0);
}

/* The fourth argument: is this the first run over the subject? Later ones need not look at its encoding again. */
Term bif_re_internal_run_4(Process *p, Term *args)
{
	if (args[3] != am_true && args[3] != am_false)
		return exc_badarg(p);
	return run_any(p, args, 4, args[3] == am_true ? 0 : PCRE2_NO_UTF_CHECK);
}

Term bif_re_inspect_2(Process *p, Term *args)
{
	bool unicode;
	const struct regex *regex = re_get_pattern(args[0], &unicode);
	struct regex_names names;
	Term list = NIL, *link = &list;
	const char *name, *last = NULL;
	uint32_t group;
	bool has_option;

	if (regex == NULL)
		return exc_badarg(p);
	if (args[1] != am_namelist) {
		regex_release(regex);
		return exc_badarg(p);
	}
	names = regex_names(regex);
	has_option = re_may_share_names(regex);
	for (uint32_t i = 0; (name = regex_name(&names, i, &group)) != NULL; i++) {
		if (!has_option || last == NULL || strcmp(name, last) != 0) {
			*link = heap_cons(&p->heap, binary_put(&p->heap, name, strlen(name)), NIL);
			link = &cons_ptr(*link)[1];
		}
		last = name;
	}
	regex_release(regex);
	return heap_tuple(&p->heap, am_namelist, list);
}

Term bif_re_version_0(Process *p, Term *args)
{
	static _Thread_local char text[64];
	static _Thread_local int n; /* with the NUL */

	(void)args;
	if (n == 0)
		n = pcre2_config(PCRE2_CONFIG_VERSION, text);
	return binary_put(&p->heap, text, n > 0 ? (size_t)n - 1 : 0);
}
