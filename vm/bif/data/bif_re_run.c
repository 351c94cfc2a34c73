/* SPDX-License-Identifier: Apache-2.0 */
/* re:run. What the stock re.erl does itself (global runs, Unicode text in lists) is handed to it, as OTP's own emulator
 * does. */
#include "base/alloc.h"
#include "bif/bif.h"
#include "bif/data/bif_re.h"
#include "code/export.h"
#include "data/binary.h"
#include "data/utf8.h"

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
