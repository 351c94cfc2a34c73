/* SPDX-License-Identifier: Apache-2.0 */
/* Options of module re. */
#include "base/release.h"
#include "bif/data/bif_re.h"
#include "data/iolist.h"
#include "data/number.h"

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

bool re_get_options(struct re_options *o, Term list)
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

bool re_is_capture(const struct re_options *o)
{
	if (o->capture == TERM_NONE)
		return true;
	if (o->capture_type != am_index && o->capture_type != am_list && o->capture_type != am_binary)
		return false;
	return o->capture == am_all || o->capture == am_none || o->capture == am_all_but_first ||
	       o->capture == am_first || o->capture == am_all_names || is_capture_list(o->capture);
}
