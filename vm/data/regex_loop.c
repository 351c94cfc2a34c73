/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over a pattern that compiles, which keeps the groups that are open. Whether what stands before a call can
 * match the empty text is asked of PCRE2, for each group that is open between the call and the group that it calls.
 * Invariant: at is at most n, depth at most LEVELS - 1; level 0 is the whole pattern. */
#include "data/regex_loop.h"

#include <string.h>

/* PCRE2 compiles no pattern with more than 250 groups open. What stands before calls is compiled as far as so many
 * bytes: after that, in patterns with thousands of calls, loops are left to the match. */
enum { LEVELS = 252, COMPILED_MOST_BYTES = 1 << 18 };

struct level {
	size_t open, branch; /* its parenthesis; the start of its branch */
	int64_t number;      /* -1: it captures nothing */
	size_t name, name_bytes;
	bool is_condition;   /* (?(: it may end what calls itself */
	bool resets;         /* (?|: each branch numbers from `first` on */
	int64_t first, most;
	bool extended;       /* outside it */
};

struct scan {
	const char *source;
	size_t n, at;
	uint32_t flags;
	bool extended;
	pcre2_compile_context *context;
	int64_t groups;
	size_t compiled_bytes;
	size_t depth;
	struct level levels[LEVELS];
};

static bool starts(const struct scan *s, size_t at, const char *text)
{
	size_t k = strlen(text);

	return s->n - at >= k && memcmp(s->source + at, text, k) == 0;
}

/* Where c stands, from `at` on, or n. */
static size_t find_char(const struct scan *s, size_t at, char c)
{
	const char *found = at < s->n ? memchr(s->source + at, c, s->n - at) : NULL;

	return found != NULL ? (size_t)(found - s->source) : s->n;
}

static size_t behind(const struct scan *s, size_t at) { return at < s->n ? at + 1 : s->n; }

static size_t skip_quoted(const struct scan *s, size_t at)
{
	while (at < s->n && !starts(s, at, "\\E"))
		at++;
	return at < s->n ? at + 2 : at;
}

/* at: a backslash. */
static size_t skip_escape(const struct scan *s, size_t at)
{
	if (starts(s, at, "\\Q"))
		return skip_quoted(s, at + 2);
	at += starts(s, at, "\\c") ? 3 : 2;
	return at < s->n ? at : s->n;
}

/* at: behind the bracket that begins a class. */
static size_t skip_class(const struct scan *s, size_t at)
{
	at += at < s->n && s->source[at] == '^';
	at += at < s->n && s->source[at] == ']';
	while (at < s->n && s->source[at] != ']') {
		size_t end = starts(s, at, "[:") ? find_char(s, at + 2, ']') : s->n;

		if (s->source[at] == '\\')
			at = skip_escape(s, at);
		else if (end < s->n && s->source[end - 1] == ':')
			at = end + 1;
		else
			at++;
	}
	return behind(s, at);
}

static bool may_be_empty(struct scan *s, size_t from, size_t to)
{
	uint32_t empty = 0;
	size_t offset;
	int error;
	pcre2_code *code;

	if (from == to)
		return true;
	s->compiled_bytes += to - from;
	if (s->compiled_bytes > COMPILED_MOST_BYTES)
		return false;
	code = pcre2_compile((PCRE2_SPTR)s->source + from, to - from, s->flags, &error, &offset, s->context);
	if (code != NULL)
		pcre2_pattern_info(code, PCRE2_INFO_MATCHEMPTY, &empty);
	pcre2_code_free(code);
	return empty != 0;
}

/* Is the call at `at`, of the group on a level, a loop? What stands before it in a group may name groups outside that:
 * then it does not compile alone, and the call is left to the match. */
static bool is_loop(struct scan *s, size_t level, size_t at)
{
	for (; level <= s->depth; level++) {
		const struct level *l = &s->levels[level];

		if (l->is_condition || !may_be_empty(s, l->branch, level < s->depth ? l[1].open : at))
			return false;
	}
	return true;
}

static bool is_name(const struct level *l, const struct scan *s, size_t from, size_t to)
{
	size_t n = to - from;

	return l->name_bytes > 0 && l->name_bytes == n && memcmp(s->source + l->name, s->source + from, n) == 0;
}

/* What is called stands in [from, to): R, a number, one with a sign, or a name. */
static bool calls_loop(struct scan *s, size_t at, size_t from, size_t to)
{
	char first = from < to ? s->source[from] : 0;
	bool is_relative = first == '+' || first == '-', is_number = first >= '0' && first <= '9';
	int64_t number = 0;

	for (size_t i = from + is_relative; i < to && (is_relative || is_number) && number < 1 << 20; i++)
		number = number * 10 + (s->source[i] - '0');
	if (is_relative)
		number = first == '-' ? s->groups - number + 1 : -2;
	for (size_t level = s->depth + 1; level-- > 0;) {
		const struct level *l = &s->levels[level];
		bool is_called = is_relative || is_number ? l->number == number : is_name(l, s, from, to);

		if (is_called || (level == 0 && to - from == 1 && first == 'R'))
			return is_loop(s, level, at);
	}
	return false;
}

/* The number of a group that opens now; -1 when an earlier branch had it: a call means the first of that number. */
static int64_t take_number(struct scan *s)
{
	s->groups++;
	for (size_t level = 1; level <= s->depth; level++)
		if (s->levels[level].resets && s->groups <= s->levels[level].most)
			return -1;
	return s->groups;
}

static void open_group(struct scan *s, size_t branch, bool captures)
{
	int64_t number = captures ? take_number(s) : -1;

	s->levels[++s->depth] =
		(struct level){ .open = s->at, .branch = branch, .number = number, .extended = s->extended };
	s->at = branch;
}

static void close_group(struct scan *s)
{
	const struct level *l = &s->levels[s->depth];

	s->at++;
	if (s->depth == 0)
		return;
	if (l->resets && l->most > s->groups)
		s->groups = l->most;
	s->extended = l->extended;
	s->depth--;
}

static void next_branch(struct scan *s)
{
	struct level *l = &s->levels[s->depth];

	l->branch = ++s->at;
	if (!l->resets)
		return;
	if (s->groups > l->most)
		l->most = s->groups;
	s->groups = l->first;
}

/* (?flags) or (?flags: */
static void set_flags(struct scan *s, size_t at)
{
	bool on = true, extended = s->extended;

	for (; at < s->n && s->source[at] != ')' && s->source[at] != ':'; at++) {
		if (s->source[at] == '-')
			on = false;
		else if (s->source[at] == 'x')
			extended = on;
	}
	if (at < s->n && s->source[at] == ':')
		open_group(s, at + 1, false);
	else
		s->at = behind(s, at);
	s->extended = extended;
}

static void open_named(struct scan *s, size_t name, char end)
{
	size_t to = find_char(s, name, end);

	open_group(s, behind(s, to), true);
	s->levels[s->depth].name = name;
	s->levels[s->depth].name_bytes = to - name;
}

/* At "(?(": what is asked is a lookaround, which follows as a group of its own, or ends at the next parenthesis. */
static void open_condition(struct scan *s)
{
	size_t at = s->at + 2;

	open_group(s, starts(s, at, "(?") ? at : behind(s, find_char(s, at, ')')), false);
	s->levels[s->depth].is_condition = true;
}

/* The call at s->at: what it calls begins at `from` and ends before `end`. */
static bool take_call(struct scan *s, size_t from, char end, size_t *offset)
{
	size_t at = s->at, to = find_char(s, from, end);

	s->at = behind(s, to);
	*offset = to;
	return calls_loop(s, at, from, to);
}

/* At "(?". True: at a call that is a loop. */
static bool take_special(struct scan *s, size_t *offset)
{
	size_t at = s->at + 2;
	char c = at < s->n ? s->source[at] : 0, next = at + 1 < s->n ? s->source[at + 1] : 0;

	if (c == 'R' || (c >= '0' && c <= '9') || ((c == '+' || c == '-') && next >= '0' && next <= '9'))
		return take_call(s, at, ')', offset);
	if (c == '&')
		return take_call(s, at + 1, ')', offset);
	if (starts(s, at, "P>"))
		return take_call(s, at + 2, ')', offset);
	if (c == '#' || c == 'C' || starts(s, at, "P="))
		s->at = behind(s, find_char(s, at, ')'));
	else if (c == '(')
		open_condition(s);
	else if (starts(s, at, "<=") || starts(s, at, "<!"))
		open_group(s, at + 2, false);
	else if (c == '<' || c == '\'')
		open_named(s, at + 1, c == '<' ? '>' : '\'');
	else if (starts(s, at, "P<"))
		open_named(s, at + 2, '>');
	else if (c == ':' || c == '>' || c == '=' || c == '!' || c == '|')
		open_group(s, at + 1, false);
	else
		set_flags(s, at);
	if (c == '|') {
		s->levels[s->depth].resets = true;
		s->levels[s->depth].first = s->levels[s->depth].most = s->groups;
	}
	return false;
}

/* True: at a call that is a loop. */
static bool take_item(struct scan *s, size_t *offset)
{
	switch (s->source[s->at]) {
	case '\\':
		if (starts(s, s->at, "\\g<") || starts(s, s->at, "\\g'"))
			return take_call(s, s->at + 3, s->source[s->at + 2] == '<' ? '>' : '\'', offset);
		s->at = skip_escape(s, s->at);
		return false;
	case '[':
		s->at = skip_class(s, s->at + 1);
		return false;
	case '#':
		s->at = s->extended ? behind(s, find_char(s, s->at, '\n')) : s->at + 1;
		return false;
	case '(':
		if (starts(s, s->at, "(?"))
			return take_special(s, offset);
		if (starts(s, s->at, "(*"))
			s->at = behind(s, find_char(s, s->at, ')'));
		else
			open_group(s, s->at + 1, (s->flags & PCRE2_NO_AUTO_CAPTURE) == 0);
		return false;
	case ')':
		close_group(s);
		return false;
	case '|':
		next_branch(s);
		return false;
	default:
		s->at++;
		return false;
	}
}

static bool has_pair(const char *source, size_t n, char first, char second)
{
	const char *at = source, *end = source + n;

	while (at < end && (at = memchr(at, second, (size_t)(end - at))) != NULL) {
		if (at > source && at[-1] == first)
			return true;
		at++;
	}
	return false;
}

bool regex_has_loop(const char *source, size_t n, uint32_t flags, pcre2_compile_context *c, size_t *offset)
{
	struct scan s;

	if (!has_pair(source, n, '(', '?') && !has_pair(source, n, '\\', 'g'))
		return false;
	s.source = source;
	s.n = n;
	s.at = s.depth = 0;
	s.groups = 0;
	s.compiled_bytes = 0;
	s.flags = flags & ~(uint32_t)PCRE2_ANCHORED;
	s.extended = (flags & PCRE2_EXTENDED) != 0;
	s.context = c;
	s.levels[0] = (struct level){ .number = 0 };
	while (s.at < s.n && s.depth < LEVELS - 1)
		if (take_item(&s, offset))
			return true;
	return false;
}
