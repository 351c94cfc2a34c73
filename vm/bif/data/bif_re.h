/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of module re share: options, and compiled patterns. */
#ifndef VM_BIF_DATA_BIF_RE_H
#define VM_BIF_DATA_BIF_RE_H

#include "data/regex_cache.h"
#include "proc/process.h"

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

/* Fails: false. */
bool re_get_options(struct re_options *o, Term list);
/* Is what is to be captured something that can be? */
bool re_is_capture(const struct re_options *o);

/* Takes: the share. */
Term re_put_pattern(Process *p, const struct regex *regex, bool unicode);
/* Owns: the caller, a share. Fails: NULL, and *failure is what to return. */
const struct regex *re_compile_text(Process *p, Term text, const struct re_options *o, bool in_run, Term *failure);
/* Owns: the caller, a share. Fails: NULL when t is no compiled pattern. */
const struct regex *re_get_pattern(Term t, bool *unicode);
/* Several groups may have one name by an option, or by (?J) in the pattern. Only the option makes them one, as in
 * OTP. */
bool re_may_share_names(const struct regex *r);

/* What re:run/3 gives for a match of the subject, without global. */
Term re_match(Process *p, const struct regex *regex, const struct re_options *o, Term subject);

#endif
