/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code is not disassembled here: bytes that look like a call, a jump or an address relative to
 * the instruction count where they lead exactly to the start of a function, of a string, of an
 * import. Those in the middle of an instruction hardly ever do; where one does, a row fits twice
 * and finds nothing.
 */
#include "otp_recover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "otp_recover_tables.h"

enum {
    LEA = 0x8d,
    MOV = 0x8b,
    LEA_SIZE = 7, /* that of mov, too */
    MAX_SPANS = 4, /* a NIF and the functions whose address it takes */
    MAX_FUNCTION = 1 << 20,
    MAX_TAKEN = 1 << 22,
    MAX_STRINGS = 16, /* places where the same string stands */
    BUDGET = 1 << 28, /* bytes of code and strings looked at in all: a file made to be slow finds nothing */
};

/* ---- rules */

/*
 * A rule finds the address of a function, or of an object, that has no symbol: the one for which all its clauses hold.
 * Each kind is a macro of otp_rules.def, which says what it asks of the address; holds() answers. The first clause also
 * says which addresses are asked about, so that not every function of the emulator is: apply().
 */
enum clause_kind {
    CLAUSE_NONE, /* behind the last */
    CLAUSE_CALLED_BY,
    CLAUSE_NOT_CALLED_BY,
    CLAUSE_CALLS,
    CLAUSE_NOT_CALLS,
    CLAUSE_REFERS_TO,
    CLAUSE_NOT_REFERS_TO,
    CLAUSE_IMPORTS,
    CLAUSE_LARGER_THAN,
    CLAUSE_IS,
    CLAUSE_IN_ROW_OF,
    CLAUSE_TAKEN_IN,
    CLAUSE_READ_IN,
};

struct clause {
    enum clause_kind kind;
    const char *what; /* the other function, the string or the atom; NULL: the kind has none */
    uint64_t offset;  /* or a number of bytes */
};

static const struct rule {
    const char *name; /* by which otp_recover_find knows the address */
    bool object;      /* not a function */
    const struct clause *clauses; /* up to CLAUSE_NONE */
} rules[] = {
#define RULE(name, clauses) {#name, false, (const struct clause[]){clauses{CLAUSE_NONE, NULL, 0}}},
#define OBJECT(name, clauses) {#name, true, (const struct clause[]){clauses{CLAUSE_NONE, NULL, 0}}},
#define CALLED_BY(f) {CLAUSE_CALLED_BY, f, 0},
#define NOT_CALLED_BY(f) {CLAUSE_NOT_CALLED_BY, f, 0},
#define CALLS(f) {CLAUSE_CALLS, f, 0},
#define NOT_CALLS(f) {CLAUSE_NOT_CALLS, f, 0},
#define REFERS_TO(s) {CLAUSE_REFERS_TO, s, 0},
#define NOT_REFERS_TO(s) {CLAUSE_NOT_REFERS_TO, s, 0},
#define IMPORTS(s) {CLAUSE_IMPORTS, s, 0},
#define LARGER_THAN(bytes) {CLAUSE_LARGER_THAN, NULL, bytes},
#define IS(f) {CLAUSE_IS, f, 0},
#define IN_ROW_OF(atom, offset) {CLAUSE_IN_ROW_OF, atom, offset},
#define TAKEN_IN(f) {CLAUSE_TAKEN_IN, f, 0},
#define READ_IN(f, offset) {CLAUSE_READ_IN, f, offset},
#include "otp_rules.def"
};

enum { NRULES = sizeof rules / sizeof *rules };

struct memo {
    enum { MEMO_NEW, MEMO_BUSY, MEMO_FOUND, MEMO_NONE } state;
    uint64_t address;
};

/* ---- records that begin with an address, in its order */

static int compare_addresses(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* How many of them are before the address: where those begin that have it. */
static size_t count_below(const void *records, size_t n, size_t size, uint64_t address)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (*(const uint64_t *)((const char *)records + middle * size) < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- bounds of functions */

static int read_functions(struct otp_recover *r)
{
    size_t n = otp_image_functions(r->image);
    struct span span;

    if (!n)
        return -ENOEXEC;
    r->functions = calloc(n, sizeof *r->functions);
    if (!r->functions)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (otp_image_function(r->image, i, &span.address, &span.size) && span.size <= MAX_FUNCTION &&
            span.size <= r->image->text_size && span.address >= r->image->text &&
            span.address - r->image->text <= r->image->text_size - span.size)
            r->functions[r->nfunctions++] = span;
    qsort(r->functions, r->nfunctions, sizeof *r->functions, compare_addresses);
    return 0;
}

const struct span *otp_recover_function_at(const struct otp_recover *r, uint64_t address)
{
    size_t i = count_below(r->functions, r->nfunctions, sizeof *r->functions, address);

    return i < r->nfunctions && r->functions[i].address == address ? &r->functions[i] : NULL;
}

/* ---- what code refers to */

static bool spend(struct otp_recover *r, uint64_t bytes)
{
    r->budget = bytes < r->budget ? r->budget - bytes : 0;
    return r->budget;
}

/* The function that the address is in; NULL when in none. */
static const struct span *function_of(const struct otp_recover *r, uint64_t address)
{
    size_t n = count_below(r->functions, r->nfunctions, sizeof *r->functions, address + 1);

    return n && address - r->functions[n - 1].address < r->functions[n - 1].size ? &r->functions[n - 1] : NULL;
}

static const unsigned char *code_of(const struct otp_recover *r, const struct span *span)
{
    return r->text + (span->address - r->image->text);
}

static uint64_t relative(uint64_t next, const unsigned char *distance)
{
    int32_t d;

    memcpy(&d, distance, 4);
    return next + (uint64_t)(int64_t)d;
}

/* Length of what looks like a call, a jump or a conditional jump, 0 when it does not. */
static uint64_t branch_length(const unsigned char *code, uint64_t room)
{
    uint64_t length = (code[0] & 0xfe) == 0xe8 ? 5 : code[0] == 0x0f && (code[1] & 0xf0) == 0x80 ? 6 : 0;

    return length <= room ? length : 0;
}

/* The next branch of `span` from *i on: where it leads. */
static bool next_branch(struct otp_recover *r, const struct span *span, uint64_t *i, uint64_t *target)
{
    const unsigned char *code = code_of(r, span);
    uint64_t start = *i, at = start, length = 0;

    while (at + 5 <= span->size && !(length = branch_length(code + at, span->size - at)))
        at++;
    *i = at + 1;
    if (!length || !spend(r, *i - start))
        return false;
    *target = relative(span->address + at + length, code + at + length - 4);
    return true;
}

static bool calls(struct otp_recover *r, const struct span *span, uint64_t callee)
{
    uint64_t target;

    for (uint64_t i = 0; next_branch(r, span, &i, &target);)
        if (target == callee && target != span->address)
            return true;
    return false;
}

static bool imports(struct otp_recover *r, const struct span *span, const char *name)
{
    const unsigned char *code = code_of(r, span);
    const struct otp_reloc *slot;
    const char *import;
    uint64_t target;

    for (uint64_t i = 0; next_branch(r, span, &i, &target);)
        if (!otp_recover_function_at(r, target) && (import = otp_image_stub_import(r->image, target)) &&
            !strcmp(import, name))
            return true;
    for (uint64_t i = 0; spend(r, 1) && i + 6 <= span->size; i++) /* without stubs: call [slot] */
        if (code[i] == 0xff && (code[i + 1] == 0x15 || code[i + 1] == 0x25) &&
            (slot = otp_image_reloc_at(r->image, relative(span->address + i + 6, code + i + 2))) && slot->import &&
            !strcmp(slot->import, name))
            return true;
    return false;
}

/* Of the instructions `lea` or `mov` with a register and [rip + distance]. */
static bool is_relative(const unsigned char *code, unsigned char opcode)
{
    return (code[0] & 0xfb) == 0x48 && code[1] == opcode && (code[2] & 0xc7) == 0x05;
}

/* The next instruction of that sort in `span` from *i on: the address that it speaks of. */
static bool next_relative(struct otp_recover *r, const struct span *span, unsigned char opcode, uint64_t *i,
                          uint64_t *address)
{
    const unsigned char *code = code_of(r, span);
    uint64_t at = *i;

    while (at + LEA_SIZE <= span->size && !is_relative(code + at, opcode))
        at++;
    if (at + LEA_SIZE > span->size || !spend(r, at + 1 - *i))
        return false;
    *i = at + 1;
    *address = relative(span->address + at + LEA_SIZE, code + at + 3);
    return true;
}

static int read_taken(struct otp_recover *r)
{
    uint64_t base = r->image->text, size = r->image->text_size;
    size_t room = 0;

    for (uint64_t i = 0; i + LEA_SIZE <= size && r->ntaken < MAX_TAKEN; i++) {
        if (!is_relative(r->text + i, LEA))
            continue;
        if (r->ntaken == room) {
            struct taken *more = realloc(r->taken, (room = room ? 2 * room : 4096) * sizeof *more);

            if (!more)
                return -ENOMEM;
            r->taken = more;
        }
        r->taken[r->ntaken++] = (struct taken){relative(base + i + LEA_SIZE, r->text + i + 3), base + i};
    }
    if (r->ntaken)
        qsort(r->taken, r->ntaken, sizeof *r->taken, compare_addresses);
    return 0;
}

/* Index of the first place that takes the address; those that follow it do too while the address is the same. */
static size_t first_taken(const struct otp_recover *r, uint64_t address)
{
    return count_below(r->taken, r->ntaken, sizeof *r->taken, address);
}

static bool is_within(const struct span *span, uint64_t address)
{
    return address >= span->address && address - span->address < span->size;
}

static bool takes(const struct otp_recover *r, const struct span *span, uint64_t address)
{
    for (size_t i = first_taken(r, address); i < r->ntaken && r->taken[i].address == address; i++)
        if (is_within(span, r->taken[i].by))
            return true;
    return false;
}

/*
 * The next place in memory that is not code, from *at on, where the string stands; it may be the end of a longer one.
 */
static bool next_string(struct otp_recover *r, const char *string, uint64_t *at)
{
    size_t size = strlen(string) + 1;

    for (unsigned i = 0; i < r->image->nsegments; i++) {
        const struct otp_segment *segment = &r->image->segments[i];
        uint64_t from = *at > segment->address ? *at : segment->address, end = segment->address + segment->filled;
        const unsigned char *bytes, *found;

        if (segment->code || from >= end || !(bytes = otp_image_at(r->image, from, end - from)))
            continue;
        found = spend(r, end - from) ? memmem(bytes, end - from, string, size) : NULL;
        if (found) {
            *at = from + (uint64_t)(found - bytes);
            return true;
        }
    }
    return false;
}

static bool refers_to(struct otp_recover *r, const struct span *span, const char *string)
{
    uint64_t at = 0;

    for (int i = 0; i < MAX_STRINGS && next_string(r, string, &at); i++, at++)
        if (takes(r, span, at))
            return true;
    return false;
}

/* ---- clauses */

static uint64_t find(struct otp_recover *r, const char *name);

/* Exported in every release: for libraries of native functions and of drivers. */
static bool is_interface(const char *name)
{
    static const char *const prefixes[] = {"enif_", "driver_", "erl_drv_", "set_busy_port"};

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

/*
 * The functions that `name` stands for in a clause: of a NIF also those whose address it takes, its body behind a
 * wrapper.
 */
static size_t resolve(struct otp_recover *r, const char *name, struct span spans[MAX_SPANS])
{
    const char *colon = strchr(name, ':');
    const struct otp_symbol *export = colon ? NULL : otp_image_export(r->image, name);
    bool foreign = is_interface(name);
    uint64_t address = colon ? otp_recover_mfa(r, name, colon)
                       : !foreign ? find(r, name)
                       : export ? export->address
                       : 0;
    const struct span *function = otp_recover_function_at(r, address);
    uint64_t taken;
    size_t n = 0;

    if (!function)
        return 0;
    spans[n++] = *function;
    for (uint64_t i = 0; colon && n < MAX_SPANS && next_relative(r, &spans[0], LEA, &i, &taken);)
        if ((function = otp_recover_function_at(r, taken)))
            spans[n++] = *function;
    return n;
}

static bool called_by(struct otp_recover *r, const char *name, uint64_t callee, bool *known)
{
    struct span spans[MAX_SPANS];
    size_t n = resolve(r, name, spans);

    *known = n > 0;
    for (size_t i = 0; i < n; i++)
        if (calls(r, &spans[i], callee))
            return true;
    return false;
}

/* Whether the word at the address is read. */
static bool reads(struct otp_recover *r, const struct span *span, uint64_t address)
{
    uint64_t read;

    for (uint64_t i = 0; next_relative(r, span, MOV, &i, &read);)
        if (read == address)
            return true;
    return false;
}

/*
 * Number, counted from 1, of the first reloc from `from` on that stands so far behind the word of the atom and leads to
 * the address (0: to any); 0 without one.
 */
static size_t in_row_of(struct otp_recover *r, const struct clause *clause, size_t from, uint64_t address)
{
    uint64_t term = otp_recover_atom(r, clause->what, strlen(clause->what)), word;

    for (size_t i = from; term && i < r->image->nrelocs; i++) {
        const struct otp_reloc *reloc = &r->image->relocs[i];
        const unsigned char *row = reloc->import || (address && reloc->address != address) || reloc->at < clause->offset
                                       ? NULL
                                       : otp_image_at(r->image, reloc->at - clause->offset, sizeof word);

        if (!row)
            continue;
        memcpy(&word, row, sizeof word);
        if (word == term)
            return i + 1;
    }
    return 0;
}

/* A clause about a function that is not known does not hold, its negation neither. */
static bool holds(struct otp_recover *r, const struct clause *clause, uint64_t address)
{
    const struct span *function = otp_recover_function_at(r, address);
    struct span spans[MAX_SPANS];
    bool known, is;

    switch (clause->kind) {
    case CLAUSE_NONE:
        return true;
    case CLAUSE_CALLED_BY:
    case CLAUSE_NOT_CALLED_BY:
        is = called_by(r, clause->what, address, &known);
        return known && is == (clause->kind == CLAUSE_CALLED_BY);
    case CLAUSE_CALLS:
    case CLAUSE_NOT_CALLS:
        return resolve(r, clause->what, spans) &&
               calls(r, function, spans[0].address) == (clause->kind == CLAUSE_CALLS);
    case CLAUSE_REFERS_TO:
        return refers_to(r, function, clause->what);
    case CLAUSE_NOT_REFERS_TO:
        return !refers_to(r, function, clause->what);
    case CLAUSE_IMPORTS:
        return imports(r, function, clause->what);
    case CLAUSE_LARGER_THAN:
        return function->size > clause->offset;
    case CLAUSE_IS:
        return resolve(r, clause->what, spans) && spans[0].address == address;
    case CLAUSE_IN_ROW_OF:
        return in_row_of(r, clause, 0, address) > 0;
    case CLAUSE_TAKEN_IN:
        return resolve(r, clause->what, spans) && takes(r, &spans[0], address);
    case CLAUSE_READ_IN:
        return resolve(r, clause->what, spans) && reads(r, &spans[0], address + clause->offset);
    }
    return false;
}

/* What fits a rule so far. */
struct search {
    const struct rule *rule;
    uint64_t found; /* 0: nothing yet */
    bool two;       /* another address fits as well: the rule finds none */
};

static void consider(struct otp_recover *r, struct search *search, uint64_t address)
{
    if (search->two || address == search->found || (!search->rule->object && !otp_recover_function_at(r, address)))
        return;
    for (const struct clause *clause = search->rule->clauses; clause->kind != CLAUSE_NONE; clause++)
        if (!holds(r, clause, address))
            return;
    search->two = search->found;
    search->found = address;
}

static void consider_callees(struct otp_recover *r, struct search *search, const char *caller)
{
    struct span spans[MAX_SPANS];
    size_t n = resolve(r, caller, spans);
    uint64_t target;

    for (size_t s = 0; s < n; s++)
        for (uint64_t i = 0; next_branch(r, &spans[s], &i, &target);)
            if (!is_within(&spans[s], target))
                consider(r, search, target);
}

static void consider_callers(struct otp_recover *r, struct search *search, const char *callee)
{
    struct span spans[MAX_SPANS];

    if (!resolve(r, callee, spans))
        return;
    for (size_t i = 0; i < r->nfunctions; i++)
        if (calls(r, &r->functions[i], spans[0].address))
            consider(r, search, r->functions[i].address);
}

static void consider_referrers(struct otp_recover *r, struct search *search, const char *string)
{
    uint64_t at = 0;

    for (int n = 0; n < MAX_STRINGS && next_string(r, string, &at); n++, at++)
        for (size_t i = first_taken(r, at); i < r->ntaken && r->taken[i].address == at; i++) {
            const struct span *function = function_of(r, r->taken[i].by);

            if (function)
                consider(r, search, function->address);
        }
}

static bool is_object(const struct otp_image *image, uint64_t address)
{
    const struct otp_segment *segment = otp_image_segment(image, address);

    return segment && segment->writable;
}

static void consider_objects(struct otp_recover *r, struct search *search, const char *taker)
{
    struct span spans[MAX_SPANS];
    uint64_t taken;

    if (!resolve(r, taker, spans))
        return;
    for (uint64_t i = 0; next_relative(r, &spans[0], LEA, &i, &taken);)
        if (is_object(r->image, taken))
            consider(r, search, taken);
}

static void consider_rows(struct otp_recover *r, struct search *search, const struct clause *clause)
{
    for (size_t i = 0; (i = in_row_of(r, clause, i, 0));)
        if (is_object(r->image, r->image->relocs[i - 1].address))
            consider(r, search, r->image->relocs[i - 1].address);
}

/*
 * The one address that all clauses of the rule hold for; 0: none, or two. Only such addresses are tried as the first
 * clause speaks of: what its function calls, who calls it, who refers to its string, the one function that it names,
 * objects of its rows, objects whose address its function takes.
 */
static uint64_t apply(struct otp_recover *r, const struct rule *rule)
{
    struct search search = {.rule = rule};
    const struct clause *first = &rule->clauses[0];

    if (first->kind == CLAUSE_CALLED_BY)
        consider_callees(r, &search, first->what);
    else if (first->kind == CLAUSE_CALLS)
        consider_callers(r, &search, first->what);
    else if (first->kind == CLAUSE_REFERS_TO)
        consider_referrers(r, &search, first->what);
    else if (first->kind == CLAUSE_IS)
        consider(r, &search, otp_recover_mfa(r, first->what, strchr(first->what, ':')));
    else if (first->kind == CLAUSE_IN_ROW_OF)
        consider_rows(r, &search, first);
    else if (first->kind == CLAUSE_TAKEN_IN)
        consider_objects(r, &search, first->what);
    return search.two ? 0 : search.found;
}

/* ---- names */

static uint64_t find(struct otp_recover *r, const char *name)
{
    for (size_t i = 0; i < NRULES; i++) {
        if (strcmp(rules[i].name, name))
            continue;
        if (r->memos[i].state == MEMO_NEW) {
            r->memos[i].state = MEMO_BUSY; /* a rule that needs itself finds nothing */
            r->memos[i].address = apply(r, &rules[i]);
            r->memos[i].state = r->memos[i].address ? MEMO_FOUND : MEMO_NONE;
        }
        return r->memos[i].state == MEMO_FOUND ? r->memos[i].address : 0;
    }
    return 0;
}

/* [module_]function_arity: those of module erlang go without it. Wherever an underscore may be the border. */
static uint64_t find_bif(const struct otp_recover *r, const char *name)
{
    const char *last = strrchr(name, '_');
    size_t length = last ? (size_t)(last - name) : 0;
    unsigned arity;
    char *end;
    uint64_t found;

    if (!length || !last[1])
        return 0;
    arity = (unsigned)strtoul(last + 1, &end, 10);
    if (*end)
        return 0;
    found = otp_recover_bif(r, otp_recover_atom(r, "erlang", 6), otp_recover_atom(r, name, length), arity);
    for (size_t i = 1; i + 1 < length; i++) {
        uint64_t code = name[i] == '_' ? otp_recover_bif(r, otp_recover_atom(r, name, i),
                                                         otp_recover_atom(r, name + i + 1, length - i - 1), arity)
                                       : 0;

        if (code && found && code != found)
            return 0;
        if (code)
            found = code;
    }
    return found;
}

int otp_recover_find(struct otp_recover *r, const char *name, uint64_t *address, uint64_t *size)
{
    uint64_t found = find(r, name);
    const struct span *function;

    if (!found)
        found = find_bif(r, name);
    if (!found)
        return -ENOENT;
    function = otp_recover_function_at(r, found);
    *address = found;
    *size = function ? function->size : 0;
    return 0;
}

int otp_recover_new(struct otp_image *image, struct otp_recover **out)
{
    struct otp_recover *r = calloc(1, sizeof *r);
    int err = -ENOMEM;

    if (!r)
        return err;
    r->image = image;
    r->budget = BUDGET;
    r->text = otp_image_at(image, image->text, image->text_size);
    r->memos = calloc(NRULES, sizeof *r->memos);
    if (r->memos)
        err = r->text ? read_functions(r) : -ENOEXEC;
    if (!err)
        err = read_taken(r);
    if (err) {
        otp_recover_free(r);
        return err;
    }
    otp_recover_find_atoms(r);
    *out = r;
    return 0;
}

void otp_recover_free(struct otp_recover *r)
{
    if (!r)
        return;
    free(r->functions);
    free(r->taken);
    free(r->memos);
    free(r);
}
