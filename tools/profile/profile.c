/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: equal stacks, frames and functions are kept once; their numbers never change. */
#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/table.h"

/* A string of bytes of a pool. */
struct item {
    UT_hash_handle hh;
    uint32_t number;
    size_t size;
    unsigned char bytes[];
};

/* Different strings of bytes, numbered from 0. */
struct pool {
    struct item *table; /* by the bytes */
    struct item **items; /* by number */
    size_t n, room;
};

struct profile {
    struct profile_units units;
    struct pool functions; /* kind, name, NUL: its code may be of several files, or of none that is known */
    struct pool files;     /* name, NUL */
    struct pool locations; /* struct location */
    struct pool stacks;    /* numbers of locations */
    uint64_t *addresses;   /* by location */
    struct {
        uint64_t count, value;
    } *sums; /* by stack */
};

struct location {
    uint32_t function, file, line;
};

static void pool_clear(struct pool *pool)
{
    HASH_CLEAR(hh, pool->table);
    for (size_t i = 0; i < pool->n; i++)
        free(pool->items[i]);
    free(pool->items);
}

static int pool_grow(struct pool *pool)
{
    size_t room = pool->room ? 2 * pool->room : 64;
    void *items = realloc(pool->items, room * sizeof *pool->items);

    if (!items)
        return -ENOMEM;
    pool->items = items;
    pool->room = room;
    return 0;
}

/* The number of these bytes. Fails: -ENOMEM. */
static int64_t pool_number(struct pool *pool, const void *bytes, size_t size)
{
    struct item *item;

    HASH_FIND(hh, pool->table, bytes, size, item);
    if (item)
        return item->number;
    if (pool->n == pool->room && pool_grow(pool))
        return -ENOMEM;
    item = calloc(1, sizeof *item + size);
    if (!item)
        return -ENOMEM;
    item->number = (uint32_t)pool->n;
    item->size = size;
    memcpy(item->bytes, bytes, size);
    HASH_ADD(hh, pool->table, bytes, size, item);
    if (!table_has(item)) {
        free(item);
        return -ENOMEM;
    }
    pool->items[pool->n++] = item;
    return item->number;
}

struct profile *profile_new(const struct profile_units *units)
{
    struct profile *profile = calloc(1, sizeof *profile);

    if (profile)
        profile->units = *units;
    return profile;
}

void profile_free(struct profile *profile)
{
    if (!profile)
        return;
    pool_clear(&profile->functions);
    pool_clear(&profile->files);
    pool_clear(&profile->locations);
    pool_clear(&profile->stacks);
    free(profile->addresses);
    free(profile->sums);
    free(profile);
}

const struct profile_units *profile_units(const struct profile *profile)
{
    return &profile->units;
}

/* The number of a line of a function. Fails: -ENOMEM. */
static int64_t locate_line(struct profile *profile, uint32_t function, uint32_t file, const struct profile_frame *frame)
{
    size_t before = profile->locations.n;
    uint64_t *addresses = realloc(profile->addresses, (before + 1) * sizeof *addresses);
    int64_t number;

    if (!addresses)
        return -ENOMEM;
    profile->addresses = addresses;
    number = pool_number(&profile->locations, &(struct location){function, file, frame->line}, sizeof(struct location));
    if (profile->locations.n > before)
        addresses[number] = frame->address;
    return number;
}

/* The number of the frame's location. Fails: -ENOMEM. */
static int64_t locate(struct profile *profile, const struct profile_frame *frame)
{
    size_t name = strlen(frame->name) + 1;
    char *bytes = malloc(1 + name);
    int64_t function, file;

    if (!bytes)
        return -ENOMEM;
    bytes[0] = (char)frame->kind;
    memcpy(bytes + 1, frame->name, name);
    function = pool_number(&profile->functions, bytes, 1 + name);
    free(bytes);
    file = pool_number(&profile->files, frame->file, strlen(frame->file) + 1);
    if (function < 0 || file < 0)
        return -ENOMEM;
    return locate_line(profile, (uint32_t)function, (uint32_t)file, frame);
}

int profile_add(struct profile *profile, const struct profile_frame *frames, size_t n, uint64_t count, uint64_t value)
{
    uint32_t *numbers = calloc(n + 1, sizeof *numbers);
    size_t before = profile->stacks.n;
    int64_t number = numbers ? 0 : -ENOMEM;
    void *sums;

    for (size_t i = 0; number >= 0 && i < n; i++) {
        number = locate(profile, &frames[i]);
        numbers[i] = (uint32_t)number;
    }
    sums = number < 0 ? NULL : realloc(profile->sums, (before + 1) * sizeof *profile->sums);
    if (sums)
        profile->sums = sums;
    number = sums ? pool_number(&profile->stacks, numbers, n * sizeof *numbers) : -ENOMEM;
    free(numbers);
    if (number < 0)
        return (int)number;
    if (profile->stacks.n > before)
        memset(&profile->sums[number], 0, sizeof *profile->sums);
    profile->sums[number].count += count;
    profile->sums[number].value += value;
    return 0;
}

size_t profile_stacks(const struct profile *profile)
{
    return profile->stacks.n;
}

struct profile_stack profile_stack(const struct profile *profile, size_t number)
{
    return (struct profile_stack){(const uint32_t *)profile->stacks.items[number]->bytes,
                                  profile->stacks.items[number]->size / sizeof(uint32_t), profile->sums[number].count,
                                  profile->sums[number].value};
}

size_t profile_locations(const struct profile *profile)
{
    return profile->locations.n;
}

struct profile_frame profile_location(const struct profile *profile, size_t number)
{
    const struct location *location = (const struct location *)profile->locations.items[number]->bytes;
    const char *function = (const char *)profile->functions.items[location->function]->bytes;
    const char *file = (const char *)profile->files.items[location->file]->bytes;

    return (struct profile_frame){(enum profile_kind)function[0], function + 1, file, location->line,
                                  profile->addresses[number]};
}

/* ---- orders */

struct ranked {
    uint64_t value;
    uint32_t number;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return x->value != y->value ? (x->value < y->value ? 1 : -1) : x->number < y->number ? -1 : x->number > y->number;
}

int profile_order(const struct profile *profile, uint32_t **out)
{
    size_t n = profile->stacks.n;
    struct ranked *ranked = calloc(n + 1, sizeof *ranked);

    *out = calloc(n + 1, sizeof **out);
    if (!ranked || !*out) {
        free(ranked);
        return -ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        ranked[i] = (struct ranked){profile->sums[i].value, (uint32_t)i};
    qsort(ranked, n, sizeof *ranked, compare_ranked);
    for (size_t i = 0; i < n; i++)
        (*out)[i] = ranked[i].number;
    free(ranked);
    return 0;
}

static int compare_functions(const void *a, const void *b)
{
    const struct profile_function *x = a, *y = b;

    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    return x->total < y->total ? 1 : x->total > y->total ? -1 : strcmp(x->frame.name, y->frame.name);
}

/* By what they ran themselves and what they called, so that neither an outer function nor a leaf is lost. */
static int compare_shares(const void *a, const void *b)
{
    const struct profile_function *x = a, *y = b;
    uint64_t left = x->self + x->total, right = y->self + y->total;

    return left != right ? left < right ? 1 : -1 : compare_functions(a, b);
}

/* The first `top` by their shares, without groups, those that ran longest first. */
static size_t choose_functions(struct profile_function *functions, size_t n, size_t top)
{
    size_t chosen = 0;

    qsort(functions, n, sizeof *functions, compare_shares);
    for (size_t i = 0; i < n && chosen < top; i++)
        if (functions[i].frame.kind != PROFILE_GROUP)
            functions[chosen++] = functions[i];
    qsort(functions, chosen, sizeof *functions, compare_functions);
    return chosen;
}

int profile_functions(const struct profile *profile, bool lines, size_t top, struct profile_function **out, size_t *n,
                      uint64_t *whole)
{
    size_t number = 0, *last;

    *n = lines ? profile->locations.n : profile->functions.n;
    *whole = 0;
    *out = calloc(*n + 1, sizeof **out);
    last = calloc(*n + 1, sizeof *last); /* the last stack that it was seen in, from 1 */
    if (!*out || !last) {
        free(last);
        return -ENOMEM;
    }
    for (size_t i = 0; i < profile->stacks.n; i++) {
        struct profile_stack stack = profile_stack(profile, i);

        *whole += stack.value;
        for (size_t k = 0; k < stack.n; k++) {
            const struct location *location =
                (const struct location *)profile->locations.items[stack.locations[k]]->bytes;

            number = lines ? stack.locations[k] : location->function;
            (*out)[number].frame = profile_location(profile, stack.locations[k]);
            (*out)[number].total += last[number] == i + 1 ? 0 : stack.value;
            last[number] = i + 1;
        }
        if (stack.n)
            (*out)[number].self += stack.value;
    }
    free(last);
    *n = choose_functions(*out, *n, top);
    return 0;
}

/* ---- the tree */

static int compare_frames(const struct profile_frame *a, const struct profile_frame *b, bool lines)
{
    int order = strcmp(a->name, b->name);

    if (!order)
        order = (int)a->kind - (int)b->kind;
    if (!order && lines)
        order = strcmp(a->file, b->file);
    if (!order && lines)
        order = a->line < b->line ? -1 : a->line > b->line;
    return order;
}

/* The child of `parent` for the frame, made when it is new; the nodes have room for it. */
static uint32_t child_of(struct profile_tree *tree, uint32_t parent, const struct profile_frame *frame, bool lines)
{
    uint32_t *link = &tree->nodes[parent].child;
    int order = 1;

    while (*link && (order = compare_frames(&tree->nodes[*link].frame, frame, lines)) < 0)
        link = &tree->nodes[*link].sibling;
    if (*link && !order)
        return *link;
    tree->nodes[tree->n] =
        (struct profile_node){.frame = *frame, .sibling = *link, .depth = tree->nodes[parent].depth + 1};
    *link = (uint32_t)tree->n;
    return (uint32_t)tree->n++;
}

static int reserve(struct profile_tree *tree, size_t *room, size_t more)
{
    size_t wanted = tree->n + more > 2 * *room ? tree->n + more : 2 * *room;
    void *nodes;

    if (tree->n + more <= *room)
        return 0;
    nodes = realloc(tree->nodes, wanted * sizeof *tree->nodes);
    if (!nodes)
        return -ENOMEM;
    tree->nodes = nodes;
    *room = wanted;
    return 0;
}

int profile_tree_new(const struct profile *profile, bool lines, struct profile_tree *out)
{
    size_t room = 0;

    *out = (struct profile_tree){0};
    if (reserve(out, &room, 64))
        return -ENOMEM;
    out->nodes[out->n++] = (struct profile_node){.frame = {PROFILE_GROUP, "all", "", 0}};
    for (size_t i = 0; i < profile_stacks(profile); i++) {
        struct profile_stack stack = profile_stack(profile, i);
        uint32_t node = 0;

        if (reserve(out, &room, stack.n)) {
            profile_tree_free(out);
            return -ENOMEM;
        }
        out->nodes[0].total += stack.value;
        for (size_t k = 0; k < stack.n; k++) {
            struct profile_frame frame = profile_location(profile, stack.locations[k]);

            node = child_of(out, node, &frame, lines);
            out->nodes[node].total += stack.value;
        }
        out->nodes[node].self += stack.value;
    }
    return 0;
}

void profile_tree_free(struct profile_tree *tree)
{
    free(tree->nodes);
    *tree = (struct profile_tree){0};
}

void profile_label(const struct profile_frame *frame, bool lines, char *out, size_t size)
{
    const char *slash = strrchr(frame->file, '/');

    if (lines && frame->line)
        snprintf(out, size, "%s (%s:%u)", frame->name, slash ? slash + 1 : frame->file, frame->line);
    else
        snprintf(out, size, "%s", frame->name);
}
