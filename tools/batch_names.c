/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what one VM tells takes no more than VM_BYTES, and there are no more than MAX_VMS. */
#include "batch_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../vm/batch_format.h"

enum { CHUNK = 1024, CHUNKS = (1 << BATCH_INDEX_BITS) / CHUNK, MAX_VMS = 1024 };
#define VM_BYTES ((size_t)256 << 20) /* a million atoms of 255 bytes */

struct vm {
    struct vm *next;
    uint32_t pid;
    size_t bytes;
    char **chunks[CHUNKS]; /* of CHUNK atoms each; NULL: none of them was told */
};

struct batch_names {
    struct vm *vms;
    size_t nvms;
};

struct batch_names *batch_names_new(void)
{
    return calloc(1, sizeof(struct batch_names));
}

static void free_vm(struct vm *vm)
{
    for (size_t i = 0; i < CHUNKS; i++) {
        for (size_t j = 0; vm->chunks[i] && j < CHUNK; j++)
            free(vm->chunks[i][j]);
        free(vm->chunks[i]);
    }
    free(vm);
}

void batch_names_forget(struct batch_names *names, uint32_t pid)
{
    for (struct vm **at = &names->vms; *at; at = &(*at)->next) {
        struct vm *vm = *at;

        if (vm->pid != pid)
            continue;
        *at = vm->next;
        names->nvms--;
        free_vm(vm);
        return;
    }
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

static struct vm *add_vm(struct batch_names *names, uint32_t pid)
{
    struct vm *vm = names->nvms < MAX_VMS ? calloc(1, sizeof *vm) : NULL;

    if (!vm)
        return NULL;
    vm->pid = pid;
    vm->next = names->vms;
    names->vms = vm;
    names->nvms++;
    return vm;
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

int batch_names_tell(struct batch_names *names, uint32_t pid, uint64_t index, const char *text, size_t bytes)
{
    struct vm *vm = find_vm(names, pid);
    char ***chunk, *copy;

    if (index >= (uint64_t)CHUNKS * CHUNK || bytes > BATCH_TEXT_BYTES)
        return -EINVAL;
    if (!vm && !(vm = add_vm(names, pid)))
        return -ENOMEM;
    if (vm->bytes + bytes > VM_BYTES)
        return -E2BIG;
    chunk = &vm->chunks[index / CHUNK];
    if (!*chunk && !(*chunk = calloc(CHUNK, sizeof **chunk)))
        return -ENOMEM;
    copy = copy_text(text, bytes);
    if (!copy)
        return -ENOMEM;
    vm->bytes += bytes;
    if ((*chunk)[index % CHUNK]) {
        vm->bytes -= strlen((*chunk)[index % CHUNK]) < vm->bytes ? strlen((*chunk)[index % CHUNK]) : vm->bytes;
        free((*chunk)[index % CHUNK]);
    }
    (*chunk)[index % CHUNK] = copy;
    return 0;
}

const char *batch_names_find(const struct batch_names *names, uint32_t pid, uint64_t index)
{
    const struct vm *vm = find_vm(names, pid);

    if (!vm || index >= (uint64_t)CHUNKS * CHUNK || !vm->chunks[index / CHUNK])
        return NULL;
    return vm->chunks[index / CHUNK][index % CHUNK];
}

static int each_of_vm(const struct vm *vm, int (*visit)(void *ctx, uint32_t vm, uint64_t index, const char *text), void *ctx)
{
    int err = 0;

    for (size_t i = 0; i < CHUNKS && !err; i++)
        for (size_t j = 0; vm->chunks[i] && j < CHUNK && !err; j++)
            if (vm->chunks[i][j])
                err = visit(ctx, vm->pid, i * CHUNK + j, vm->chunks[i][j]);
    return err;
}

int batch_names_each(const struct batch_names *names, int (*visit)(void *ctx, uint32_t vm, uint64_t index, const char *text), void *ctx)
{
    int err = 0;

    for (const struct vm *vm = names->vms; vm && !err; vm = vm->next)
        err = each_of_vm(vm, visit, ctx);
    return err;
}
