/* SPDX-License-Identifier: Apache-2.0 */
/* What views keep in the kernel: whose it is, and that it goes with its VM while programs add and remove other VMs'. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "session/engine.h"
#include "support.h"
#include "view/view_places.h"
#include "views.skel.h"

enum { OURS = 7, OTHER = 8, BUSY = 9, STAYING = 3000, COMING = 64, WALKS = 50 };

struct key {
    uint64_t id, vm;
};

/* ---- one VM's processes are not taken for another's */

/* The one number that multiplied by this odd one is 1, of 2^64. Source: Newton's iteration. */
static uint64_t invert(uint64_t odd)
{
    uint64_t inverse = odd;

    for (int i = 0; i < 6; i++)
        inverse *= 2 - odd * inverse;
    return inverse;
}

/*
 * The id of a process of `OURS` that with this secret is taken for that of another VM. Another secret tells the two
 * apart: whoever does not know it cannot make such an id.
 */
START_TEST(test_view_places_are_told_apart_by_a_secret)
{
    const uint64_t k = view_who_of(1, 0, 1) & ~(uint64_t)VIEW_PLACE_MORE, golden = 0x9e3779b97f4a7c15u;
    const uint64_t secret = 0xbf58476d1ce4e5b9u, inverse = invert(golden);
    int met = 0;

    ck_assert_uint_eq(k, (golden & ~(uint64_t)VIEW_PLACE_MORE) | (VIEW_PLACE_MORE + 1));
    for (uint64_t id = 1; id < 1000; id++) {
        uint64_t crafted = inverse * (id * golden ^ OTHER * secret ^ OURS * secret);

        ck_assert_uint_eq(view_who_of(crafted, OURS, secret), view_who_of(id, OTHER, secret));
        met += view_who_of(crafted, OURS, secret * id * 2 + 1) == view_who_of(id, OTHER, secret * id * 2 + 1);
    }
    ck_assert_int_eq(met, 0);
}
END_TEST

/* Two sessions, each of which tells its secret by its map of constants. */
START_TEST(test_view_places_have_another_secret_in_each_session)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "secret() { python3 - $1 <<'END'\n"
        "import ctypes, glob, re, struct, sys\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "bpf = lambda cmd, attr: libc.syscall(321, cmd, attr, len(attr))\n"
        "for path in glob.glob(f'/proc/{sys.argv[1]}/fdinfo/*'):\n"
        "    found = re.search(r'map_id:\\t(\\d+)', open(path).read())\n"
        "    if not found: continue\n"
        "    fd = bpf(14, ctypes.create_string_buffer(struct.pack('=I4xQ', int(found.group(1)), 0), 16))\n"
        "    info = ctypes.create_string_buffer(256)\n"
        "    bpf(15, ctypes.create_string_buffer(struct.pack('=IIQ', fd, 256, ctypes.addressof(info)), 16))\n"
        "    if info.raw[24:40].rstrip(b'\\0') != b'.rodata.places': continue\n"
        "    key, value = ctypes.create_string_buffer(4), ctypes.create_string_buffer(64)\n"
        "    assert not bpf(1, ctypes.create_string_buffer(struct.pack('=I4xQQQ', fd, ctypes.addressof(key), "
        "ctypes.addressof(value), 0), 32))\n"
        "    print(struct.unpack_from('=Q', value.raw)[0])\n"
        "END\n"
        "}\n"
        "$EMITTER -w go process__spawn=1 & p=$!; runs $p emitter\n"
        "for i in 1 2; do $ERLSNOOP spawns -p $p > told 2>&1 & s=$!; attached $s; secret $s; kill -INT $s; wait $s; "
        "done\n"
        "echo > go; wait $p");
    unsigned long long first = 0, second = 0;

    ck_assert_msg(sscanf(r->out, "%llu\n%llu\n", &first, &second) == 2, "%s%s", r->out, r->err);
    ck_assert(first & 1 && second & 1 && first != second && first > UINT32_MAX && second > UINT32_MAX);
}
END_TEST

/* ---- keys of a hash that programs change meanwhile */

static volatile bool ends;

static void *come_and_go(void *ctx)
{
    int map = *(int *)ctx;
    uint64_t value = 0;

    for (uint64_t i = 0; !ends; i++) {
        bpf_map_update_elem(map, &(struct key){i, BUSY}, &value, BPF_ANY);
        bpf_map_delete_elem(map, &(struct key){i - COMING, BUSY});
    }
    return NULL;
}

static void count_staying(void *ctx, const void *at)
{
    unsigned char *seen = ctx;
    struct key key;

    memcpy(&key, at, sizeof key);
    if (key.vm == OURS)
        seen[key.id]++;
}

static int make_hash(void)
{
    int map = bpf_map_create(BPF_MAP_TYPE_HASH, "staying", sizeof(struct key), sizeof(uint64_t), 65536, NULL);
    uint64_t value = 1;

    ck_assert_int_ge(map, 0);
    for (uint64_t i = 0; i < STAYING; i++)
        ck_assert_int_eq(bpf_map_update_elem(map, &(struct key){i, OURS}, &value, BPF_ANY), 0);
    return map;
}

START_TEST(test_view_places_walk_tells_each_key_that_stays_once)
{
    unsigned char seen[STAYING];
    pthread_t busy;
    int map;

    SUPPORT_BPF();
    map = make_hash();
    ends = false;
    ck_assert_int_eq(pthread_create(&busy, NULL, come_and_go, &map), 0);
    for (int walk = 0; walk < WALKS; walk++) {
        memset(seen, 0, sizeof seen);
        ck_assert_int_eq(vm_maps_each_key(map, count_staying, seen), 0);
        for (int i = 0; i < STAYING; i++)
            ck_assert_int_eq(seen[i], 1);
    }
    vm_maps_drop_keys(map, offsetof(struct key, vm), &(struct vm_set){&(uint32_t){OURS}, 1});
    memset(seen, 0, sizeof seen);
    vm_maps_each_key(map, count_staying, seen);
    for (int i = 0; i < STAYING; i++)
        ck_assert_int_eq(seen[i], 0);
    ends = true;
    pthread_join(busy, NULL);
    close(map);
    ck_assert_int_eq(vm_maps_each_key(-1, count_staying, seen), 0);
}
END_TEST

/* ---- places */

struct place {
    VIEW_PLACE_OF(struct state_spawns_births)
};

/* One that has just been taken has not said yet whose it is: it stays, whoever had it before. */
START_TEST(test_view_places_drop_leaves_what_is_being_taken)
{
    const struct vm_set vms = {&(uint32_t){OURS}, 1};
    enum { AT = 5, TAKEN = 6, OTHERS = 7 };
    struct place *places;
    struct bpf_program *program;
    struct view_kept kept;
    struct views *skel;

    SUPPORT_BPF();
    skel = views__open();
    bpf_object__for_each_program(program, skel->obj)
        bpf_program__set_autoload(program, false);
    ck_assert_int_eq(views__load(skel), 0);
    ck_assert_int_eq(view_places_open(&kept, skel->maps.spawns_births_at, skel->maps.spawns_births_more), 0);
    places = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(skel->maps.spawns_births_at), 0);
    ck_assert_ptr_ne(places, MAP_FAILED);
    places[AT] = (struct place){.owner = view_who_of(AT, OURS, 1) + 1, .vm = OURS};
    places[TAKEN] = (struct place){.owner = view_who_of(TAKEN, OTHER, 1)};
    places[OTHERS] = (struct place){.owner = view_who_of(OTHERS, OTHER, 1), .vm = OTHER};
    memset(&places[AT].state, 1, sizeof places->state);
    view_places_drop(&kept, &vms);
    ck_assert_uint_eq(places[AT].owner, 1); /* one of it stands in the hash */
    ck_assert_uint_eq(places[AT].vm, 0);
    ck_assert_mem_eq(&places[AT].state, &(struct state_spawns_births){0}, sizeof places->state);
    ck_assert_uint_eq(places[TAKEN].owner, view_who_of(TAKEN, OTHER, 1));
    ck_assert_uint_eq(places[OTHERS].vm, OTHER);
    munmap(places, 4096);
    view_places_close(&kept);
    views__destroy(skel);
}
END_TEST

Suite *view_places_suite(void)
{
    Suite *suite = suite_create("view_places");
    TCase *tests = tcase_create("tests");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, test_view_places_are_told_apart_by_a_secret);
    tcase_add_test(tests, test_view_places_have_another_secret_in_each_session);
    tcase_add_test(tests, test_view_places_walk_tells_each_key_that_stays_once);
    tcase_add_test(tests, test_view_places_drop_leaves_what_is_being_taken);
    suite_add_tcase(suite, tests);
    return suite;
}
