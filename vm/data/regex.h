/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions: PCRE2 with the defaults of module re (lines end in LF, bytes above 127 are Latin-1 characters).
 * Invariant: a compiled pattern is never written to again; any number of threads may match with it. */
#ifndef VM_DATA_REGEX_H
#define VM_DATA_REGEX_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of pcre2_compile's flags those that module re can ask for. */
#define REGEX_FLAGS                                                                                                    \
	(PCRE2_ANCHORED | PCRE2_NO_START_OPTIMIZE | PCRE2_CASELESS | PCRE2_DOLLAR_ENDONLY | PCRE2_DOTALL |             \
	 PCRE2_EXTENDED | PCRE2_FIRSTLINE | PCRE2_MULTILINE | PCRE2_NO_AUTO_CAPTURE | PCRE2_DUPNAMES |                 \
	 PCRE2_UNGREEDY | PCRE2_UCP | PCRE2_NEVER_UTF | PCRE2_UTF)

/* What a pattern is compiled with. */
struct regex_options {
	uint32_t flags;      /* of REGEX_FLAGS */
	uint32_t newline;    /* PCRE2_NEWLINE_*; 0: LF */
	uint32_t bsr;        /* PCRE2_BSR_*; 0: the default */
};

struct regex {
	pcre2_code *code;
	bool is_deaf;        /* too large for callouts: regex_limits.stop is never asked */
	struct regex_options options;
	const char *source;  /* as it was given */
	size_t source_bytes;
};

/* A newline or bsr that two options contradict each other about: such a pattern does not compile. */
#define REGEX_CONTRADICTION UINT32_MAX
/* Owns: the caller, the source, which must live as long as r, and what regex_free frees. Fails: false; *error for
 * regex_error_text, *offset where. */
bool regex_compile(struct regex *r, const void *source, size_t n, const struct regex_options *o, int *error,
		   size_t *offset);
/* Writes what an error says; returns how many bytes, without a NUL. */
size_t regex_error_text(int error, char *text, size_t room);
void regex_free(struct regex *r);
uint32_t regex_captures(const struct regex *r);
/* Do \r\n count as one line end? */
bool regex_has_crlf(const struct regex *r);

/* A match. Owns: the caller, `data` (pcre2_match_data_free). */
struct regex_match {
	pcre2_match_data *data;
	const size_t *places; /* pairs of start and end; PCRE2_UNSET */
	int count;           /* pairs set at most */
};
#define REGEX_NO_LIMIT UINT32_MAX
struct regex_limits {
	uint32_t match, depth; /* REGEX_NO_LIMIT: PCRE2's own */
	/* NULL, or asked between any two items of the pattern: true ends the match. work: done since it was asked
	 * before. One item may look through all of the subject. Units: some ten nanoseconds. */
	bool (*stop)(void *arg, uint32_t work);
	void *arg;
};
enum { REGEX_STOPPED = -1000 };
/* Returns what pcre2_match did: > 0, or PCRE2_ERROR_*; or REGEX_STOPPED, with m->data NULL. flags: PCRE2_* of
 * pcre2_match. */
int regex_match(const struct regex *r, const void *subject, size_t n, size_t offset, uint32_t flags,
		const struct regex_limits *limits, struct regex_match *m);
/* The same for a scheduler: stops as well when the match may take milliseconds until limits->stop is asked. */
int regex_try(const struct regex *r, const void *subject, size_t n, size_t offset, uint32_t flags,
	      const struct regex_limits *limits, struct regex_match *m);

/* Names of groups, sorted: they live as long as r. */
struct regex_names {
	const uint8_t *entries;
	uint32_t count, entry_bytes;
};
struct regex_names regex_names(const struct regex *r);
/* Entry i names group *group. Returns the name (NUL-terminated), or NULL past the last. */
const char *regex_name(const struct regex_names *names, uint32_t i, uint32_t *group);

#endif
