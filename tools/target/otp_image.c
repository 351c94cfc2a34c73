/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: the segments kept do not wrap around and what they say they fill is bounded by the
 * file's size; every read goes through otp_image_at, which looks only there.
 */
#include "otp_image.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frame_table.h"

enum { MAX_SYMBOLS = 4 << 20, MAX_FUNCTIONS = 1 << 20, MAX_STRING = 4096, SYM_SIZE = sizeof(Elf64_Sym) };
static const uint64_t max_segment = 256 << 20;

struct otp_image_file {
    int fd;
    uint64_t size;
    Elf *elf; /* owns the symbols' names */
};

/* ---- reading */

static bool segment_fits(const GElf_Phdr *ph, uint64_t file_size)
{
    return ph->p_filesz <= ph->p_memsz && ph->p_memsz <= UINT64_MAX - ph->p_vaddr && ph->p_offset <= file_size &&
           ph->p_filesz <= file_size - ph->p_offset && ph->p_filesz <= max_segment;
}

/* A separate debug file has segments without contents: they are left out, its symbols are all it is read for. */
static void read_segments(struct otp_image *image)
{
    GElf_Phdr ph;
    size_t n = 0;

    if (elf_getphdrnum(image->file->elf, &n))
        return;
    for (size_t i = 0; i < n && image->nsegments < OTP_IMAGE_SEGMENTS; i++) {
        if (!gelf_getphdr(image->file->elf, (int)i, &ph))
            return;
        if (ph.p_type == PT_GNU_EH_FRAME)
            image->frames = ph.p_vaddr;
        if (ph.p_type == PT_LOAD && segment_fits(&ph, image->file->size))
            image->segments[image->nsegments++] = (struct otp_segment){
                .address = ph.p_vaddr, .size = ph.p_memsz, .offset = ph.p_offset, .filled = ph.p_filesz,
                .code = ph.p_flags & PF_X, .writable = ph.p_flags & PF_W};
    }
}

static void read_build_id(struct otp_image *image, Elf_Scn *section)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t at = 0, next, name, desc;
    GElf_Nhdr nhdr;

    while (data && data->d_buf && at < data->d_size && (next = gelf_getnote(data, at, &nhdr, &name, &desc)) > at) {
        const char *bytes = data->d_buf;

        at = next;
        if (name > data->d_size || nhdr.n_namesz > data->d_size - name || desc > data->d_size ||
            nhdr.n_descsz > data->d_size - desc)
            return;
        if (nhdr.n_type != NT_GNU_BUILD_ID || nhdr.n_namesz != sizeof ELF_NOTE_GNU ||
            memcmp(bytes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) || nhdr.n_descsz > OTP_BUILD_ID_MAX)
            continue;
        memcpy(image->build_id, bytes + desc, nhdr.n_descsz);
        image->build_id_size = nhdr.n_descsz;
        return;
    }
}

static void read_debug_link(struct otp_image *image, Elf_Scn *section)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t length = data && data->d_buf ? strnlen(data->d_buf, data->d_size) : 0;

    if (length && length < data->d_size && length < sizeof image->debug_link)
        memcpy(image->debug_link, data->d_buf, length + 1);
}

static int read_symbols(struct otp_image *image, Elf_Scn *section, const GElf_Shdr *sh)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data && data->d_buf ? data->d_size / SYM_SIZE : 0;
    struct otp_symbol *symbols;
    GElf_Sym sym;

    if (sh->sh_type == SHT_DYNSYM) {
        image->exports = sh->sh_addr;
        image->exports_size = sh->sh_size;
    }
    if (n > MAX_SYMBOLS - image->nsymbols)
        n = MAX_SYMBOLS - image->nsymbols;
    if (!n)
        return 0;
    symbols = realloc(image->symbols, (image->nsymbols + n) * sizeof *symbols);
    if (!symbols)
        return -ENOMEM;
    image->symbols = symbols;
    for (size_t i = 0; i < n && gelf_getsym(data, (int)i, &sym); i++) {
        const char *name = elf_strptr(image->file->elf, sh->sh_link, sym.st_name);
        int type = GELF_ST_TYPE(sym.st_info);

        if (name && *name && sym.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_OBJECT))
            symbols[image->nsymbols++] = (struct otp_symbol){
                .name = name, .address = sym.st_value, .size = sym.st_size, .code = type == STT_FUNC,
                .global = GELF_ST_BIND(sym.st_info) != STB_LOCAL, .dynamic = sh->sh_type == SHT_DYNSYM};
    }
    return 0;
}

/* Name of the symbol `i` of the symbol table in section `link`; NULL without one. */
static const char *symbol_name(Elf *elf, uint32_t link, size_t i)
{
    Elf_Scn *section = elf_getscn(elf, link);
    Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
    GElf_Shdr sh;
    GElf_Sym sym;

    if (!data || !gelf_getshdr(section, &sh) || i > INT32_MAX || !gelf_getsym(data, (int)i, &sym))
        return NULL;
    return elf_strptr(elf, sh.sh_link, sym.st_name);
}

static int read_relocs(struct otp_image *image, Elf_Scn *section, const GElf_Shdr *sh)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = data && data->d_buf ? data->d_size / sizeof(Elf64_Rela) : 0;
    struct otp_reloc *relocs;
    GElf_Rela rela;

    if (n > MAX_SYMBOLS - image->nrelocs)
        n = MAX_SYMBOLS - image->nrelocs;
    if (!n)
        return 0;
    relocs = realloc(image->relocs, (image->nrelocs + n) * sizeof *relocs);
    if (!relocs)
        return -ENOMEM;
    image->relocs = relocs;
    for (size_t i = 0; i < n && gelf_getrela(data, (int)i, &rela); i++) {
        uint64_t type = GELF_R_TYPE(rela.r_info);
        struct otp_reloc reloc = {.at = rela.r_offset, .address = (uint64_t)rela.r_addend};

        if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT)
            reloc.import = symbol_name(image->file->elf, sh->sh_link, GELF_R_SYM(rela.r_info));
        if (type == R_X86_64_RELATIVE || reloc.import)
            relocs[image->nrelocs++] = reloc;
    }
    return 0;
}

static int compare_relocs(const void *a, const void *b)
{
    const struct otp_reloc *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static int compare_symbols(const void *a, const void *b)
{
    const struct otp_symbol *x = a, *y = b;
    int by_name = strcmp(x->name, y->name);

    if (by_name)
        return by_name;
    return x->address != y->address ? (x->address > y->address) - (x->address < y->address) : x->dynamic - y->dynamic;
}

static int read_sections(struct otp_image *image)
{
    size_t names;
    GElf_Shdr sh;
    int err = 0;

    if (elf_getshdrstrndx(image->file->elf, &names))
        return 0; /* no sections: nothing but segments */
    for (Elf_Scn *s = NULL; !err && (s = elf_nextscn(image->file->elf, s));) {
        const char *name = gelf_getshdr(s, &sh) ? elf_strptr(image->file->elf, names, sh.sh_name) : NULL;

        if (!name)
            continue;
        if (sh.sh_type == SHT_NOTE && !image->build_id_size)
            read_build_id(image, s);
        else if (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM)
            err = read_symbols(image, s, &sh);
        else if (sh.sh_type == SHT_RELA)
            err = read_relocs(image, s, &sh);
        else if (!strcmp(name, ".gnu_debuglink"))
            read_debug_link(image, s);
        else if (!strcmp(name, ".text")) {
            image->text = sh.sh_addr;
            image->text_size = sh.sh_size;
        }
    }
    if (image->nsymbols)
        qsort(image->symbols, image->nsymbols, sizeof *image->symbols, compare_symbols);
    if (image->nrelocs)
        qsort(image->relocs, image->nrelocs, sizeof *image->relocs, compare_relocs);
    return err;
}

/* ---- the interface */

static int open_file(struct otp_image_file *file)
{
    struct stat st;
    GElf_Ehdr eh;

    if (fstat(file->fd, &st))
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -ENOEXEC;
    file->size = (uint64_t)st.st_size;
    elf_version(EV_CURRENT);
    file->elf = elf_begin(file->fd, ELF_C_READ, NULL);
    if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &eh) ||
        eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_machine != EM_X86_64)
        return -ENOEXEC;
    return 0;
}

int otp_image_from_fd(int fd, struct otp_image **out)
{
    struct otp_image *image = calloc(1, sizeof *image);
    struct otp_image_file *file = calloc(1, sizeof *file);
    int err = -ENOMEM;

    if (!image || !file) {
        free(image);
        free(file);
        close(fd);
        return err;
    }
    image->file = file;
    file->fd = fd;
    err = open_file(file);
    if (!err) {
        read_segments(image);
        err = read_sections(image);
    }
    if (err) {
        otp_image_free(image);
        return err;
    }
    *out = image;
    return 0;
}

int otp_image_new(const char *path, struct otp_image **out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for a writer */

    return fd < 0 ? -errno : otp_image_from_fd(fd, out);
}

void otp_image_free(struct otp_image *image)
{
    if (!image)
        return;
    for (unsigned i = 0; i < image->nsegments; i++)
        free(image->segments[i].bytes);
    free(image->symbols);
    free(image->relocs);
    free(image->jumps);
    free(image->references);
    if (image->file->elf)
        elf_end(image->file->elf);
    close(image->file->fd);
    free(image->file);
    free(image);
}

const struct otp_segment *otp_image_segment(const struct otp_image *image, uint64_t address)
{
    for (unsigned i = 0; i < image->nsegments; i++)
        if (address >= image->segments[i].address && address - image->segments[i].address < image->segments[i].size)
            return &image->segments[i];
    return NULL;
}

static void load(struct otp_image *image, struct otp_segment *segment)
{
    unsigned char *bytes = malloc(segment->filled);
    uint64_t n = 0;

    while (bytes && n < segment->filled) {
        ssize_t got = pread(image->file->fd, bytes + n, segment->filled - n, (off_t)(segment->offset + n));

        if (got <= 0) { /* the file has shrunk since */
            free(bytes);
            bytes = NULL;
        } else {
            n += (uint64_t)got;
        }
    }
    segment->bytes = bytes;
}

const unsigned char *otp_image_at(struct otp_image *image, uint64_t address, size_t size)
{
    struct otp_segment *segment = (struct otp_segment *)otp_image_segment(image, address);
    uint64_t at = segment ? address - segment->address : 0;

    if (!segment || at >= segment->filled || size > segment->filled - at)
        return NULL;
    if (!segment->bytes)
        load(image, segment);
    return segment->bytes ? segment->bytes + at : NULL;
}

const char *otp_image_string(struct otp_image *image, uint64_t address)
{
    const char *start = (const char *)otp_image_at(image, address, 1);
    const struct otp_segment *segment = otp_image_segment(image, address);
    uint64_t room = start ? segment->filled - (address - segment->address) : 0;

    return start && memchr(start, 0, room < MAX_STRING ? room : MAX_STRING) ? start : NULL;
}

static int compare_name(const void *name, const void *symbol)
{
    return strcmp(name, ((const struct otp_symbol *)symbol)->name);
}

const struct otp_symbol *otp_image_export(const struct otp_image *image, const char *name)
{
    const struct otp_symbol *end = image->symbols + image->nsymbols,
                            *at = image->nsymbols ? bsearch(name, image->symbols, image->nsymbols, sizeof *at,
                                                            compare_name)
                                                  : NULL;

    while (at && at > image->symbols && !strcmp(at[-1].name, name))
        at--;
    for (; at && at < end && !strcmp(at->name, name); at++)
        if (at->dynamic)
            return at;
    return NULL;
}

bool otp_image_is_code(const struct otp_image *image, uint64_t address)
{
    const struct otp_segment *segment = otp_image_segment(image, address);

    return segment && segment->code && address - segment->address < segment->filled;
}

uint64_t otp_image_offset(const struct otp_image *image, uint64_t address)
{
    const struct otp_segment *segment = otp_image_segment(image, address);

    return segment && address - segment->address < segment->filled ? address - segment->address + segment->offset : 0;
}

uint64_t otp_image_address(const struct otp_image *image, uint64_t offset)
{
    for (unsigned i = 0; i < image->nsegments; i++) {
        const struct otp_segment *s = &image->segments[i];

        if (s->code && offset >= s->offset && offset - s->offset < s->filled)
            return s->address + (offset - s->offset);
    }
    return 0;
}

/* ---- bounds of functions */

static struct frame_table read_table(struct otp_image *image)
{
    const unsigned char *head = image->frames ? otp_image_at(image, image->frames, FRAME_TABLE_HEAD) : NULL;
    size_t size = head ? frame_table_size(head) : 0;
    bool small = size <= FRAME_TABLE_HEAD + FRAME_TABLE_ROW * (size_t)MAX_FUNCTIONS;
    const unsigned char *bytes = size && small ? otp_image_at(image, image->frames, size) : NULL;

    return frame_table_of(bytes, bytes ? size : 0, image->frames);
}

size_t otp_image_functions(struct otp_image *image)
{
    return read_table(image).n;
}

/* The same of a table that was read. */
static bool read_function(struct otp_image *image, const struct frame_table *table, size_t i, uint64_t *address,
                          uint64_t *size)
{
    uint64_t frame = frame_table_record(table, i);
    const unsigned char *at = otp_image_at(image, frame, 16);
    int32_t start;
    uint32_t length;

    if (!at)
        return false;
    memcpy(&start, at + 8, 4);
    memcpy(&length, at + 12, 4);
    *address = frame + 8 + (uint64_t)(int64_t)start; /* relative to where it stands */
    *size = length;
    return length && *address == frame_table_function(table, i) && otp_image_is_code(image, *address);
}

bool otp_image_function(struct otp_image *image, size_t i, uint64_t *address, uint64_t *size)
{
    struct frame_table table = read_table(image);

    return i < table.n && read_function(image, &table, i, address, size);
}

bool otp_image_function_at(struct otp_image *image, uint64_t inside, uint64_t *address, uint64_t *size)
{
    struct frame_table table = read_table(image);
    size_t n = frame_table_upto(&table, inside);

    return n && read_function(image, &table, n - 1, address, size) && inside - *address < *size;
}

uint64_t otp_image_function_size(struct otp_image *image, uint64_t address)
{
    uint64_t start, size;

    return otp_image_function_at(image, address, &start, &size) && start == address ? size : 0;
}

/* ---- imports */

const struct otp_reloc *otp_image_reloc_at(const struct otp_image *image, uint64_t at)
{
    struct otp_reloc key = {.at = at};

    return image->nrelocs ? bsearch(&key, image->relocs, image->nrelocs, sizeof key, compare_relocs) : NULL;
}

const char *otp_image_stub_import(struct otp_image *image, uint64_t address)
{
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    const unsigned char *code = otp_image_at(image, address, 16);
    const struct otp_reloc *slot;
    int32_t distance;
    size_t i = 0;

    if (!code || !otp_image_is_code(image, address))
        return NULL;
    if (!memcmp(code, endbr64, sizeof endbr64))
        i += sizeof endbr64;
    if (code[i] == 0xf2)
        i++;
    if (code[i] != 0xff || code[i + 1] != 0x25)
        return NULL;
    memcpy(&distance, code + i + 2, sizeof distance);
    slot = otp_image_reloc_at(image, address + i + 6 + (uint64_t)(int64_t)distance);
    return slot ? slot->import : NULL;
}

/* ---- jumps */

static void mark_jumps(struct otp_image *image, const unsigned char *code)
{
    for (uint64_t i = 0; i + 6 <= image->text_size; i++) {
        uint64_t length = code[i] == 0xe9 ? 5 : code[i] == 0x0f && (code[i + 1] & 0xf0) == 0x80 ? 6 : 0, target;
        int32_t distance;

        if (!length)
            continue;
        memcpy(&distance, code + i + length - 4, 4);
        target = i + length + (uint64_t)(int64_t)distance;
        if (target < image->text_size)
            image->jumps[target / 8] |= (unsigned char)(1 << target % 8);
    }
}

bool otp_image_is_jumped_to(struct otp_image *image, uint64_t from, uint64_t to)
{
    const unsigned char *code = otp_image_at(image, image->text, image->text_size);

    if (!code || from < image->text || to < from || to - image->text >= image->text_size)
        return true; /* not known: the worse of the two */
    if (!image->jumps) {
        image->jumps = calloc(1, image->text_size / 8 + 1);
        if (!image->jumps)
            return true;
        mark_jumps(image, code);
    }
    for (uint64_t at = from - image->text; at <= to - image->text; at++)
        if (image->jumps[at / 8] >> at % 8 & 1)
            return true;
    return false;
}

/* ---- references */

/* What it finds: where the reference stands, and the place in .text, from its begin. */
typedef void reference_fn(void *ctx, uint64_t at, uint64_t to);

/* Whether the distance at `at` is one of a call, a jump, or of an address that is taken (lea). */
static bool is_distance(const unsigned char *at)
{
    return at[-1] == 0xe8 || at[-1] == 0xe9 || (at[-2] == 0x0f && (at[-1] & 0xf0) == 0x80) ||
           (at[-2] == 0x8d && (at[-1] & 0xc7) == 0x05);
}

/* In code: distances, and in an executable that is not moved addresses of four bytes. */
static void each_in_code(struct otp_image *image, const unsigned char *code, reference_fn *found, void *ctx)
{
    bool moved = !image->nsegments || !image->segments[0].address;

    for (uint64_t i = 2; i + 4 <= image->text_size; i++) {
        uint32_t word;
        uint64_t to;

        memcpy(&word, code + i, 4);
        if (is_distance(code + i))
            to = i + 4 + (uint64_t)(int64_t)(int32_t)word;
        else if (!moved)
            to = word - image->text;
        else
            continue;
        if (to < image->text_size)
            found(ctx, image->text + i, to);
    }
}

/* Addresses in data, as an executable that is not moved has them. That a function may be called by others is none. */
static void each_word(struct otp_image *image, const struct otp_segment *segment, reference_fn *found, void *ctx)
{
    const unsigned char *bytes = otp_image_at(image, segment->address, segment->filled);
    uint64_t word;

    for (uint64_t i = 0; bytes && i + sizeof word <= segment->filled; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        if (word - image->text < image->text_size &&
            segment->address + i - image->exports >= image->exports_size)
            found(ctx, segment->address + i, word - image->text);
    }
}

static void each_reference(struct otp_image *image, const unsigned char *code, reference_fn *found, void *ctx)
{
    each_in_code(image, code, found, ctx);
    for (unsigned i = 0; i < image->nsegments; i++)
        if (!image->segments[i].code && image->segments[i].filled)
            each_word(image, &image->segments[i], found, ctx);
    for (size_t i = 0; i < image->nrelocs; i++) {
        const struct otp_reloc *reloc = &image->relocs[i];
        const struct otp_symbol *own = reloc->import ? otp_image_export(image, reloc->import) : NULL;
        uint64_t to = (own ? own->address : reloc->address) - image->text;

        if ((own || !reloc->import) && to < image->text_size)
            found(ctx, reloc->at, to);
    }
}

static void mark_reference(void *ctx, uint64_t at, uint64_t to)
{
    unsigned char *bits = ctx;

    (void)at;
    bits[to / 8] |= (unsigned char)(1 << to % 8);
}

struct outside {
    uint64_t to, from, size;
    bool found;
};

static void find_outside(void *ctx, uint64_t at, uint64_t to)
{
    struct outside *o = ctx;

    o->found |= to == o->to && at - o->from >= o->size;
}

bool otp_image_is_referred_to(struct otp_image *image, uint64_t address, uint64_t from, uint64_t size)
{
    const unsigned char *code = otp_image_at(image, image->text, image->text_size);
    struct outside o = {address - image->text, from, size, false};

    if (!code || o.to >= image->text_size)
        return true;
    if (!image->references) {
        image->references = calloc(1, image->text_size / 8 + 1);
        if (!image->references)
            return true;
        each_reference(image, code, mark_reference, image->references);
    }
    if (!size || !(image->references[o.to / 8] >> o.to % 8 & 1))
        return image->references[o.to / 8] >> o.to % 8 & 1;
    each_reference(image, code, find_outside, &o);
    return o.found;
}
