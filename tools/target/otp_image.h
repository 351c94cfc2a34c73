/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The executable of an emulator as its file has it: bytes by virtual address, symbols, and
 * what identifies it. Every address is that of the link editor (load bias 0).
 * Source: gABI; the x86-64 psABI.
 */
#ifndef TOOLS_OTP_IMAGE_H
#define TOOLS_OTP_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OTP_IMAGE_SEGMENTS = 16, OTP_BUILD_ID_MAX = 32 };

struct otp_segment {
    uint64_t address, size; /* in memory; what is not in the file is zero (.bss) */
    uint64_t offset, filled; /* in the file */
    bool code, writable;
    unsigned char *bytes; /* `filled` of them, read when first asked for */
};

struct otp_symbol {
    const char *name; /* lives as long as the image */
    uint64_t address, size;
    bool code, global, dynamic;
};

/* What the dynamic linker writes: an address of the image itself, or that of an imported symbol. */
struct otp_reloc {
    uint64_t at, address;
    const char *import; /* NULL: none, `address` counts */
};

struct otp_image {
    struct otp_segment segments[OTP_IMAGE_SEGMENTS];
    unsigned nsegments;
    unsigned char build_id[OTP_BUILD_ID_MAX];
    size_t build_id_size; /* 0: none */
    uint64_t text, text_size; /* the section .text */
    uint64_t exports, exports_size; /* .dynsym: where functions stand that others may call */
    char debug_link[256];     /* name of the separate debug file, "" without */
    struct otp_symbol *symbols; /* functions and objects; by name, address, those of .symtab first */
    size_t nsymbols;
    struct otp_reloc *relocs; /* by place */
    size_t nrelocs;
    uint64_t frames; /* .eh_frame_hdr, 0: none */
    unsigned char *jumps; /* a bit for each byte of .text that a far jump leads to; made when first asked for */
    unsigned char *references; /* the same of what anything refers to */
    struct otp_image_file *file;
};

/*
 * Owns: the caller frees *out with otp_image_free. A symbol that makes no sense is left out.
 * Fails: -errno of the system; -ENOEXEC when it is no x86-64 ELF file, or a damaged one. No message.
 */
int otp_image_new(const char *path, struct otp_image **out);
/* The same from a descriptor, which it takes over, also when it fails. */
int otp_image_from_fd(int fd, struct otp_image **out);
void otp_image_free(struct otp_image *image);

/*
 * The `size` bytes at an address as the file has them; NULL when they are not all in the file. Borrowed from the image.
 */
const unsigned char *otp_image_at(struct otp_image *image, uint64_t address, size_t size);
/* The string at an address, NUL included; NULL when there is none that ends. Borrowed from the image. */
const char *otp_image_string(struct otp_image *image, uint64_t address);
/* The exported function or object of that name; NULL without one. */
const struct otp_symbol *otp_image_export(const struct otp_image *image, const char *name);
/* What the dynamic linker writes at the address; NULL: nothing. */
const struct otp_reloc *otp_image_reloc_at(const struct otp_image *image, uint64_t at);
/* The import that the stub at the address jumps to (`endbr64`, `bnd` before the jump or not); NULL when it is none. */
const char *otp_image_stub_import(struct otp_image *image, uint64_t address);
/* How many functions the table of .eh_frame_hdr lists; 0 without one of the common form. Source: LSB, 10.6.2. */
size_t otp_image_functions(struct otp_image *image);
/*
 * The one numbered `i` of them, by address: where it begins and its bytes. False: what the table points to does not say
 * the same.
 */
bool otp_image_function(struct otp_image *image, size_t i, uint64_t *address, uint64_t *size);
/* The one that holds an address, by the same table. False: none does. */
bool otp_image_function_at(struct otp_image *image, uint64_t inside, uint64_t *address, uint64_t *size);
/* The bytes of the function that begins at the address, by the same table; 0 when none does. */
uint64_t otp_image_function_size(struct otp_image *image, uint64_t address);
/* The segment that holds the address; NULL when none does. */
const struct otp_segment *otp_image_segment(const struct otp_image *image, uint64_t address);
/* Whether the address is code that stands in the file. */
bool otp_image_is_code(const struct otp_image *image, uint64_t address);
/* The address of code that stands there in the file; 0 when no segment of code has it. */
uint64_t otp_image_address(const struct otp_image *image, uint64_t offset);
/* Where in the file the address is; 0 when it is not there. */
uint64_t otp_image_offset(const struct otp_image *image, uint64_t address);
/*
 * Whether bytes of .text that look like a jump over a distance of four bytes lead to [from, to].
 * Bytes are looked at wherever they stand: no jump is missed, and a few are none.
 */
bool otp_image_is_jumped_to(struct otp_image *image, uint64_t from, uint64_t to);
/*
 * Whether code or data refers to a place in .text: calls it, jumps to it, takes or holds its address; the code of
 * [from, from + size) is not asked (size 0: all is). Of the ways that compilers use none is missed, and bytes that look
 * like one may be none. True also where it is not known: the address is not in .text, or memory is short.
 */
bool otp_image_is_referred_to(struct otp_image *image, uint64_t address, uint64_t from, uint64_t size);

#endif
