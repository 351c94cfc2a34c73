/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: what one VM tells takes no more than VM_BYTES, all of them no more than ALL_BYTES, and there are no more
 * than MAX_VMS.
 */
#include "batch_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../vm/batch_format.h"

enum { CHUNK = 1024, CHUNKS = (1 << BATCH_INDEX_BITS) / CHUNK, MAX_VMS = 1024, TEXT_COST = 32 };
#define VM_BYTES ((size_t)320 << 20) /* a million atoms of 255 bytes */
#define ALL_BYTES ((size_t)2 << 30)

struct vm {
    struct vm *next;
    uint32_t pid;
    size_t bytes;
    char **chunks[CHUNKS]; /* of CHUNK atoms each; NULL: none of them was told */
};

struct batch_names {
    size_t bytes; /* of all */
    struct vm *vms; /* who told a name last comes first */
    size_t nvms;
    void (*told)(void *ctx, uint32_t vm, uint32_t index, const char *text, size_t bytes);
    void *ctx;
};

struct batch_names *batch_names_new(void)
{
    return calloc(1, sizeof(struct batch_names));
}

static void free_vm(struct vm *vm)
{
    for (size_t i = 0; i < CHUNKS; i++) {
        for (size_t j = 0; vm->chunks[i] && j < CHUNK; j++)
            if (vm->chunks[i][j]) /* few of them are there */
                free(vm->chunks[i][j]);
        if (vm->chunks[i])
            free(vm->chunks[i]);
    }
    free(vm);
}

/* Takes the VM out of the list; NULL: it is not there. */
static struct vm *unlink_vm(struct batch_names *names, uint32_t pid)
{
    for (struct vm **at = &names->vms; *at; at = &(*at)->next)
        if ((*at)->pid == pid) {
            struct vm *vm = *at;

            *at = vm->next;
            return vm;
        }
    return NULL;
}

void batch_names_forget(struct batch_names *names, uint32_t pid)
{
    struct vm *vm = unlink_vm(names, pid);

    if (!vm)
        return;
    names->nvms--;
    names->bytes -= vm->bytes;
    free_vm(vm);
}

void batch_names_free(struct batch_names *names)
{
    while (names && names->vms)
        batch_names_forget(names, names->vms->pid);
    free(names);
}

static struct vm *find_vm(const struct batch_names *names, uint32_t pid)
{
    for (struct vm *vm = names->vms; vm; vm = vm->next)
        if (vm->pid == pid)
            return vm;
    return NULL;
}

static uint32_t last_pid(const struct batch_names *names)
{
    const struct vm *vm = names->vms;

    while (vm->next)
        vm = vm->next;
    return vm->pid;
}

/* The VM, at the head of the list from now on. NULL: out of memory. */
static struct vm *first_vm(struct batch_names *names, uint32_t pid)
{
    struct vm *vm = names->vms && names->vms->pid == pid ? names->vms : NULL;

    if (vm)
        return vm;
    vm = unlink_vm(names, pid);
    if (!vm) {
        if (names->nvms == MAX_VMS)
            batch_names_forget(names, last_pid(names));
        vm = calloc(1, sizeof *vm);
        if (!vm)
            return NULL;
        vm->pid = pid;
        names->nvms++;
    }
    vm->next = names->vms;
    names->vms = vm;
    return vm;
}

void batch_names_follow(struct batch_names *names,
                        void (*told)(void *ctx, uint32_t vm, uint32_t index, const char *text, size_t bytes), void *ctx)
{
    names->told = told;
    names->ctx = ctx;
}

/* As a string: a NUL inside becomes C0 80. */
static char *copy_text(const char *text, size_t bytes)
{
    char *copy = malloc(2 * bytes + 1), *out = copy;

    for (size_t i = 0; copy && i < bytes; i++) {
        if (!text[i])
            *out++ = (char)0xc0;
        *out++ = text[i] ? text[i] : (char)0x80;
    }
    if (copy)
        *out = '\0';
    return copy;
}

/* What a text takes in memory, with what stands around it. */
static size_t cost(const char *text)
{
    return text ? strlen(text) + TEXT_COST : 0;
}

/* `text` takes the place of *at. Takes: the text, also after a failure. */
static int put_text(struct batch_names *names, struct vm *vm, char **at, char *text)
{
    size_t more = cost(text), less = cost(*at);

    if (!text)
        return -ENOMEM;
    if (vm->bytes - less + more > VM_BYTES || names->bytes - less + more > ALL_BYTES) {
        free(text);
        return -E2BIG;
    }
    vm->bytes += more - less;
    names->bytes += more - less;
    free(*at);
    *at = text;
    return 0;
}

static int add_chunk(struct batch_names *names, struct vm *vm, size_t number)
{
    size_t more = CHUNK * sizeof **vm->chunks;

    if (vm->bytes + more > VM_BYTES || names->bytes + more > ALL_BYTES)
        return -E2BIG;
    vm->chunks[number] = calloc(CHUNK, sizeof **vm->chunks);
    if (!vm->chunks[number])
        return -ENOMEM;
    vm->bytes += more;
    names->bytes += more;
    return 0;
}

int batch_names_tell(struct batch_names *names, uint32_t pid, uint64_t index, const char *text, size_t bytes)
{
    struct vm *vm;
    int err = 0;

    if (index >= (uint64_t)CHUNKS * CHUNK || bytes > BATCH_TEXT_BYTES)
        return -EINVAL;
    if (names->told)
        names->told(names->ctx, pid, (uint32_t)index, text, bytes);
    vm = first_vm(names, pid);
    if (!vm)
        return -ENOMEM;
    if (!vm->chunks[index / CHUNK])
        err = add_chunk(names, vm, index / CHUNK);
    return err ? err : put_text(names, vm, &vm->chunks[index / CHUNK][index % CHUNK], copy_text(text, bytes));
}

const char *batch_names_find(const struct batch_names *names, uint32_t pid, uint64_t index)
{
    const struct vm *vm = find_vm(names, pid);

    if (!vm || index >= (uint64_t)CHUNKS * CHUNK || !vm->chunks[index / CHUNK])
        return NULL;
    return vm->chunks[index / CHUNK][index % CHUNK];
}

static int each_of_vm(const struct vm *vm, int (*visit)(void *ctx, uint32_t vm, uint64_t index, const char *text),
                      void *ctx)
{
    int err = 0;

    for (size_t i = 0; i < CHUNKS && !err; i++)
        for (size_t j = 0; vm->chunks[i] && j < CHUNK && !err; j++)
            if (vm->chunks[i][j])
                err = visit(ctx, vm->pid, i * CHUNK + j, vm->chunks[i][j]);
    return err;
}

int batch_names_each(const struct batch_names *names,
                     int (*visit)(void *ctx, uint32_t vm, uint64_t index, const char *text), void *ctx)
{
    int err = 0;

    for (const struct vm *vm = names->vms; vm && !err; vm = vm->next)
        err = each_of_vm(vm, visit, ctx);
    return err;
}
