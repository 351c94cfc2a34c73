/* SPDX-License-Identifier: Apache-2.0 */
/* PCRE2 behind memory of our own and tables of Latin-1. */
#include "data/regex.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/regex_loop.h"

static void *allocate(size_t n, void *context)
{
	(void)context;
	return mem_try_alloc(n);
}

static void release(void *p, void *context)
{
	(void)context;
	mem_free(p);
}

/* ---- tables: those of the C locale, with ISO 8859-1 above 127 */

/* Layout of what pcre2_maketables gives (pcre2_maketables.c, PCRE2 10.30 and later). */
enum {
	TABLE_LOWER = 0,
	TABLE_FLIP = 256,
	TABLE_CLASSES = 512,
	CLASS_BYTES = 32,
	CLASSES = 10,
	TABLE_TYPES = 832,
	TABLE_BYTES = 1088
};

/* The ASCII character whose classes c shares. */
static unsigned likeness(unsigned c)
{
	if (c < 0xa0)
		return 0x01;
	if (c == 0xaa || c == 0xb5 || c == 0xba || (c >= 0xdf && c != 0xf7))
		return 'z';
	return c >= 0xc0 && c != 0xd7 && c != 0xf7 ? 'Z' : '!';
}

static bool has_case(unsigned c)
{
	return c >= 0xc0 && (c & 0x1f) != 0x17 && (c & 0x1f) != 0x1f;
}

static void extend_tables(uint8_t *t)
{
	for (unsigned c = 0x80; c < 0x100; c++) {
		unsigned like = likeness(c);

		t[TABLE_LOWER + c] = (uint8_t)(has_case(c) ? c | 0x20 : c);
		t[TABLE_FLIP + c] = (uint8_t)(has_case(c) ? c ^ 0x20 : c);
		t[TABLE_TYPES + c] = t[TABLE_TYPES + like];
		for (unsigned k = 0; k < CLASSES; k++) {
			uint8_t *class = t + TABLE_CLASSES + k * CLASS_BYTES;

			if (class[like / 8] >> like % 8 & 1)
				class[c / 8] |= (uint8_t)(1u << c % 8);
		}
	}
}

/* Made by the first who needs them; never freed. */
static struct {
	_Atomic(const uint8_t *) tables;
	_Atomic(pcre2_general_context *) memory;
	_Atomic(pcre2_compile_context *) usual; /* of patterns without options for lines; nobody writes to it */
} shared;

static pcre2_general_context *get_memory(void)
{
	pcre2_general_context *memory = atomic_load(&shared.memory), *made;

	if (memory != NULL)
		return memory;
	made = pcre2_general_context_create(allocate, release, NULL);
	if (atomic_compare_exchange_strong(&shared.memory, &memory, made))
		return made;
	pcre2_general_context_free(made);
	return memory;
}

static const uint8_t *get_tables(void)
{
	const uint8_t *tables = atomic_load(&shared.tables);
	uint8_t *made;

	if (tables != NULL)
		return tables;
	made = mem_alloc(TABLE_BYTES);
	tables = pcre2_maketables(get_memory());
	memcpy(made, tables, TABLE_BYTES);
	pcre2_maketables_free(get_memory(), tables);
	extend_tables(made);
	tables = NULL;
	if (atomic_compare_exchange_strong(&shared.tables, &tables, made))
		return made;
	mem_free(made);
	return tables;
}

/* How lines end is the pattern's own; the rest is as in PCRE 8, where \K may stand in a lookaround. */
enum { EXTRA_OPTIONS = PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK };

static pcre2_compile_context *new_context(const struct regex_options *o)
{
	pcre2_compile_context *c = pcre2_compile_context_create(get_memory());

	pcre2_set_character_tables(c, get_tables());
	pcre2_set_newline(c, o->newline != 0 ? o->newline : PCRE2_NEWLINE_LF);
	pcre2_set_bsr(c, o->bsr != 0 ? o->bsr : PCRE2_BSR_UNICODE);
	pcre2_set_compile_extra_options(c, EXTRA_OPTIONS);
	return c;
}

static pcre2_compile_context *get_context(const struct regex_options *o)
{
	pcre2_compile_context *usual, *made;

	if (o->newline != 0 || o->bsr != 0)
		return new_context(o);
	usual = atomic_load(&shared.usual);
	if (usual != NULL)
		return usual;
	made = new_context(o);
	if (atomic_compare_exchange_strong(&shared.usual, &usual, made))
		return made;
	pcre2_compile_context_free(made);
	return usual;
}

static void drop_context(pcre2_compile_context *c)
{
	if (c != atomic_load(&shared.usual))
		pcre2_compile_context_free(c);
}

/* ---- compiling, as PCRE 8 did: escapes that mean nothing are the character */

/* PCRE2 to 10.42 leaves letters above 127 of our tables out of what \w may start with. */
static uint32_t flags_of(const char *source, size_t n, uint32_t flags)
{
	bool is_wrong = (flags & PCRE2_UTF) != 0 && (flags & PCRE2_UCP) == 0 && memmem(source, n, "\\w", 2) != NULL;

	return is_wrong ? flags | PCRE2_NO_START_OPTIMIZE : flags;
}

/* Moves *at from where the error is to the character behind a backslash that is only itself to PCRE 8. */
static bool find_mute_letter(const char *source, size_t n, int error, size_t *at)
{
	switch (error) {
	case PCRE2_ERROR_UNSUPPORTED_ESCAPE_SEQUENCE:
		--*at;
		break;
	case PCRE2_ERROR_SUBPATTERN_NUMBER_TOO_BIG:
	case PCRE2_ERROR_BAD_SUBPATTERN_REFERENCE: /* \81 is the characters 81 where there are not so many groups */
		while (*at > 0 && source[*at - 1] >= '0' && source[*at - 1] <= '9')
			--*at;
		break;
	case PCRE2_ERROR_UNKNOWN_ESCAPE:
	case PCRE2_ERROR_ESCAPE_INVALID_IN_CLASS:
		break;
	default:
		return false;
	}
	if (*at < 1 || *at >= n || source[*at - 1] != '\\')
		return false;
	if (error == PCRE2_ERROR_UNSUPPORTED_ESCAPE_SEQUENCE)
		return source[*at] == 'F';
	return (source[*at] < '0' || source[*at] > '7') && source[*at] != 'g';
}

/* Of an error in a range of a class: its hyphen stands where the error is, or, from PCRE2 10.43 on, before that. */
static bool find_hyphen(const char *source, size_t n, size_t *at)
{
	if (*at < n && source[*at] == '-')
		return true;
	return *at > 0 && *at <= n && source[--*at] == '-';
}

/* \x without digits, which PCRE2 takes up to 10.44. *at is behind it. */
static bool is_bare_x(const char *source, size_t n, size_t at)
{
	return at >= 2 && at <= n && source[at - 1] == 'x' && source[at - 2] == '\\';
}

/* A new source of *n bytes, from mem_alloc. */
static char *put_in(const char *source, size_t *n, size_t at, const char *text)
{
	size_t more = strlen(text);
	char *mended = mem_alloc(*n + more);

	memcpy(mended, source, at);
	memcpy(mended + at, text, more);
	memcpy(mended + at + more, source + at, *n - at);
	*n += more;
	return mended;
}

static char *leave_out(const char *source, size_t *n, size_t at)
{
	char *mended = mem_alloc(*n);

	memcpy(mended, source, at);
	memcpy(mended + at, source + at + 1, *n - at - 1);
	--*n;
	return mended;
}

/* What PCRE 8 took and PCRE2 refuses is written otherwise: a hyphen behind a class in a class, [\d-z], is escaped; \x
 * gets the digits of what it means; a letter behind a backslash that means nothing, there or at all, loses the
 * backslash. Returns a new source of *n bytes, from mem_alloc, for the error at `at`; NULL: the error is one. */
static char *mend_source(const char *source, size_t *n, int error, size_t at)
{
	if (error == PCRE2_ERROR_CLASS_INVALID_RANGE && find_hyphen(source, *n, &at))
		return put_in(source, n, at, "\\");
	if (error == PCRE2_ERROR_MISSING_OCTAL_OR_HEX_DIGITS && is_bare_x(source, *n, at))
		return put_in(source, n, at, "00");
	return find_mute_letter(source, *n, error, &at) ? leave_out(source, n, at - 1) : NULL;
}

/* Each mend is another pass over the source: a pattern with more of them gets the rest of its bad escapes, of whatever
 * kind, as literals. One that would have to be read still more often is refused for what is wrong with it then. */
enum { MENDS_MAX = 100, READ_MOST_BYTES = 1 << 27 };

static pcre2_code *compile_source(const char *source, size_t n, uint32_t flags, int *error, size_t *offset,
				  pcre2_compile_context *c)
{
	pcre2_compile_context *lenient = NULL;
	char *mended = NULL;
	int moved = 0, mends = 0;
	pcre2_code *code;

	while ((code = pcre2_compile((PCRE2_SPTR)source, n, flags, error, offset, c)) == NULL) {
		size_t before = n;
		char *again = (size_t)mends <= READ_MOST_BYTES / (n + 1) ? mend_source(source, &n, *error, *offset)
									 : NULL;

		if (again == NULL)
			break;
		if (++mends == MENDS_MAX) {
			c = lenient = pcre2_compile_context_copy(c);
			pcre2_set_compile_extra_options(c, EXTRA_OPTIONS | PCRE2_EXTRA_BAD_ESCAPE_IS_LITERAL);
		}
		mem_free(mended);
		source = mended = again;
		moved += (int)(n - before);
	}
	if (code == NULL)
		*offset = (size_t)((int64_t)*offset - moved);
	pcre2_compile_context_free(lenient);
	mem_free(mended);
	return code;
}

/* What PCRE 8 refuses and PCRE2 has no number for, which are from 100 on. */
enum { ERROR_CONTRADICTION = 1, ERROR_LOOP };

size_t regex_error_text(int error, char *text, size_t room)
{
	int n;

	if (error == ERROR_CONTRADICTION)
		n = snprintf(text, room, "inconsistent NEWLINE options");
	else if (error == ERROR_LOOP)
		n = snprintf(text, room, "recursive call could loop indefinitely");
	else
		n = pcre2_get_error_message(error, (PCRE2_UCHAR *)text, room);
	return n > 0 ? (size_t)n : 0;
}

bool regex_compile(struct regex *r, const void *source, size_t n, const struct regex_options *o, int *error,
		   size_t *offset)
{
	pcre2_compile_context *c;

	if (o->newline == REGEX_CONTRADICTION || o->bsr == REGEX_CONTRADICTION) {
		*error = ERROR_CONTRADICTION;
		*offset = 0;
		return false;
	}
	c = get_context(o);
	r->code = compile_source(source, n, flags_of(source, n, o->flags) | PCRE2_AUTO_CALLOUT, error, offset, c);
	r->is_deaf = r->code == NULL && *error == PCRE2_ERROR_PATTERN_TOO_LARGE;
	if (r->is_deaf)
		r->code = compile_source(source, n, flags_of(source, n, o->flags), error, offset, c);
	if (r->code != NULL && regex_has_loop(source, n, flags_of(source, n, o->flags), c, offset)) {
		pcre2_code_free(r->code);
		r->code = NULL;
		*error = ERROR_LOOP;
	}
	drop_context(c);
	r->options = *o;
	r->source = source;
	r->source_bytes = n;
	return r->code != NULL;
}

void regex_free(struct regex *r)
{
	pcre2_code_free(r->code);
}

uint32_t regex_captures(const struct regex *r)
{
	uint32_t n = 0;

	pcre2_pattern_info(r->code, PCRE2_INFO_CAPTURECOUNT, &n);
	return n;
}

bool regex_has_crlf(const struct regex *r)
{
	uint32_t newline = 0;

	pcre2_pattern_info(r->code, PCRE2_INFO_NEWLINE, &newline);
	return newline == PCRE2_NEWLINE_CRLF || newline == PCRE2_NEWLINE_ANY || newline == PCRE2_NEWLINE_ANYCRLF;
}

enum { BYTES_A_WORK = 8 };

struct asker {
	const struct regex_limits *limits;
	size_t place;        /* at the callout before */
};

static int ask_to_stop(pcre2_callout_block *at, void *arg)
{
	struct asker *a = arg;
	size_t now = at->current_position, moved = now > a->place ? now - a->place : a->place - now;

	a->place = now;
	return a->limits->stop(a->limits->arg, (uint32_t)(1 + moved / BYTES_A_WORK)) ? PCRE2_ERROR_CALLOUT : 0;
}

static int forget(struct regex_match *m, int result)
{
	pcre2_match_data_free(m->data);
	m->data = NULL;
	return result;
}

int regex_match(const struct regex *r, const void *subject, size_t n, size_t offset, uint32_t flags,
		const struct regex_limits *limits, struct regex_match *m)
{
	pcre2_match_context *c = pcre2_match_context_create(get_memory());
	struct asker asker = { limits, offset };

	if (limits->match != REGEX_NO_LIMIT)
		pcre2_set_match_limit(c, limits->match);
	if (limits->depth != REGEX_NO_LIMIT)
		pcre2_set_depth_limit(c, limits->depth);
	if (limits->stop != NULL)
		pcre2_set_callout(c, ask_to_stop, &asker);
	m->data = pcre2_match_data_create_from_pattern(r->code, get_memory());
	m->count = pcre2_match(r->code, subject, n, offset, flags, m->data, c);
	m->places = pcre2_get_ovector_pointer(m->data);
	pcre2_match_context_free(c);
	return m->count != PCRE2_ERROR_CALLOUT ? m->count : forget(m, REGEX_STOPPED);
}

/* ---- a match on a scheduler Between two callouts a match may look through all of the subject, at a byte a nanosecond,
 * so a large one is shown in parts. A match that looks beyond the end of a part says so (PCRE2_PARTIAL_HARD); the next
 * part then begins where that match begins. */

enum { WHOLE_BYTES = 4 << 20, PART_BYTES = 256 << 10, DEAF_BYTES = 512, DEAF_COUNTS = 1 << 20 };

static bool is_checked(const struct regex *r, uint32_t flags)
{
	return !(r->options.flags & PCRE2_UTF) || (flags & PCRE2_NO_UTF_CHECK);
}

/* Does the place where a match begins to look make no difference to what it finds? */
static bool may_be_cut(const struct regex *r, uint32_t flags, const struct regex_limits *limits)
{
	static const char *const asks[] = { "\\G", "\\K", "(*" };

	if ((r->options.flags | flags) & (PCRE2_ANCHORED | PCRE2_FIRSTLINE))
		return false;
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		if (memmem(r->source, r->source_bytes, asks[i], 2) != NULL)
			return false;
	return (r->options.newline == 0 || r->options.newline == PCRE2_NEWLINE_LF) && limits->match == REGEX_NO_LIMIT &&
	       limits->depth == REGEX_NO_LIMIT;
}

/* Where a part that begins at `at` ends; not within a character. */
static size_t end_part(const struct regex *r, const uint8_t *subject, size_t at)
{
	size_t end = at + PART_BYTES;

	while ((r->options.flags & PCRE2_UTF) && end > at && (subject[end] & 0xc0) == 0x80)
		end--;
	return end;
}

/* What is found in the first part without a look beyond it is what the whole match finds. */
static int try_parts(const struct regex *r, const void *subject, size_t n, size_t offset, uint32_t flags,
		     const struct regex_limits *limits, struct regex_match *m)
{
	bool may_go_on = may_be_cut(r, flags, limits);
	size_t at = offset;

	do {
		size_t end = end_part(r, subject, at), next = end;
		int result = regex_match(r, subject, end, at, flags | PCRE2_PARTIAL_HARD, limits, m);

		if (result == REGEX_STOPPED)
			return result;
		if (result == PCRE2_ERROR_PARTIAL || (result > 0 && m->places[1] >= end))
			next = m->places[0];
		else if (result != PCRE2_ERROR_NOMATCH || ((r->options.flags | flags) & PCRE2_ANCHORED))
			return result;
		forget(m, 0);
		if (!may_go_on || next <= at || limits->stop(limits->arg, PART_BYTES / BYTES_A_WORK))
			return REGEX_STOPPED;
		flags &= ~(uint32_t)PCRE2_NOTEMPTY_ATSTART;
		at = next;
	} while (n - at > PART_BYTES);
	return regex_match(r, subject, n, at, flags, limits, m);
}

/* Without callouts: as long as it cannot take long, were each count at each place to look at all there is. */
static int try_deaf(const struct regex *r, const void *subject, size_t n, size_t offset, uint32_t flags,
		    const struct regex_limits *limits, struct regex_match *m)
{
	struct regex_limits counted = *limits;
	size_t left = offset < n ? n - offset + 1 : 1;
	int result;

	m->data = NULL;
	if (left > DEAF_BYTES)
		return REGEX_STOPPED;
	if (counted.match > DEAF_COUNTS / (left * left))
		counted.match = (uint32_t)(DEAF_COUNTS / (left * left));
	result = regex_match(r, subject, n, offset, flags, &counted, m);
	return result == PCRE2_ERROR_MATCHLIMIT && counted.match != limits->match ? forget(m, REGEX_STOPPED) : result;
}

int regex_try(const struct regex *r, const void *subject, size_t n, size_t offset, uint32_t flags,
	      const struct regex_limits *limits, struct regex_match *m)
{
	if (r->is_deaf)
		return try_deaf(r, subject, n, offset, flags, limits, m);
	if (offset < n && n - offset > WHOLE_BYTES && is_checked(r, flags))
		return try_parts(r, subject, n, offset, flags, limits, m);
	return regex_match(r, subject, n, offset, flags, limits, m);
}

struct regex_names regex_names(const struct regex *r)
{
	struct regex_names names = { 0 };

	pcre2_pattern_info(r->code, PCRE2_INFO_NAMECOUNT, &names.count);
	if (names.count > 0) {
		pcre2_pattern_info(r->code, PCRE2_INFO_NAMEENTRYSIZE, &names.entry_bytes);
		pcre2_pattern_info(r->code, PCRE2_INFO_NAMETABLE, &names.entries);
	}
	return names;
}

/* An entry is the group's number in two bytes, the name, and a NUL. */
const char *regex_name(const struct regex_names *names, uint32_t i, uint32_t *group)
{
	const uint8_t *entry = names->entries + (size_t)i * names->entry_bytes;

	if (i >= names->count)
		return NULL;
	*group = (uint32_t)(entry[0] << 8 | entry[1]);
	return (const char *)entry + 2;
}
