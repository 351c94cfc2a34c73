/* SPDX-License-Identifier: Apache-2.0 */
/* A module's life: loaded, replaced, deleted, purged; addresses looked up. */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "code/code_path.h"
#include "code/emit.h"
#include "code/module.h"
#include "code/opcodes.h"
#include "heap/literal.h"
#include "proc/registry.h"
#include "proc/sched.h"
#include "support_beam.h"
#include "unit.h"

static void init(void)
{
	unit_init();
	process_table_init(1024);
	registry_init();
	sched_init(1, 1);
	export_init();
	fun_init();
	module_init();
	opcodes_init();
	emit_init();
	module_translate = emit_module;
}

static struct code_instance *prepare_version(unsigned version)
{
	struct beam_error error;
	struct beam_out file;
	struct code_instance *c;

	/* line 2; move version x0; line 3; call 1 f/1; return */
	beam_build(&file,
		   BODY(153, COMPACT(U, 2), 64, COMPACT(I, version), COMPACT(X, 0), 12, COMPACT(U, 0), COMPACT(U, 1),
			153, COMPACT(U, 3), 4, COMPACT(U, 1), COMPACT(F, 2), 18, COMPACT(U, 0), 19));
	c = module_prepare(file.bytes, file.n, &error);
	ck_assert_msg(c != NULL, "said: %s", error.text);
	return c;
}

static const Inst *address_of_f(void)
{
	return atomic_load(&export_get(atom_from_text("m"), atom_from_text("f"), 1)->address);
}

START_TEST(test_module_publish_replaces_and_keeps_old)
{
	struct code_instance *first, *second, *third, *unused;
	struct code_place place;
	const Inst *address;
	Term m;

	init();
	m = atom_from_text("m");
	ck_assert(!module_is_loaded(m));
	first = prepare_version(1);
	ck_assert(!export_is_loaded(export_get(m, atom_from_text("f"), 1)));
	ck_assert_int_eq(module_publish(&first, 1), 0);
	ck_assert(module_is_loaded(m));
	address = address_of_f();
	ck_assert(address > first->words && address < first->words + first->word_count);
	second = prepare_version(2);
	ck_assert_int_eq(module_publish(&second, 1), 0);
	ck_assert(address_of_f() != address);
	ck_assert(atomic_load(&module_find(m)->old) == first);
	ck_assert(code_find_place(address, &place) && place.module == m); /* which is then remembered */
	third = prepare_version(3);
	ck_assert(!module_can_publish(m));
	ck_assert_int_eq(module_publish(&third, 1), -EBUSY);
	ck_assert_int_eq(module_purge_complete(m, &unused), -EINVAL);
	ck_assert_int_eq(module_purge_prepare(m, false), 0);
	ck_assert_int_eq(module_purge_prepare(m, false), -EBUSY);
	ck_assert_int_eq(module_purge_complete(m, &unused), 0);
	ck_assert_ptr_eq(unused, first);
	ck_assert_ptr_null(atomic_load(&module_find(m)->old));
	ck_assert(code_find_place(address, &place) && place.module == m); /* who found it before may look it up still */
	ck_assert_int_eq(module_purge_prepare(m, false), -EBUSY);
	literal_free(module_purge_end(unused));
	ck_assert_ptr_null(code_find_function(address));
	ck_assert(!code_find_place(address, &place));
	ck_assert_int_eq(module_purge_prepare(m, false), -ENOENT);
	ck_assert_int_eq(module_publish(&third, 1), 0);
}
END_TEST

START_TEST(test_module_delete_unbinds_exports)
{
	struct code_instance *c;
	Term m;

	init();
	m = atom_from_text("m");
	ck_assert_int_eq(module_delete(m), -ENOENT);
	c = prepare_version(1);
	ck_assert_int_eq(module_publish(&c, 1), 0);
	ck_assert_int_eq(module_delete(m), 0);
	ck_assert(!export_is_loaded(export_get(m, atom_from_text("f"), 1)));
	ck_assert(!module_is_loaded(m));
	c = prepare_version(2);
	ck_assert_int_eq(module_publish(&c, 1), 0);
	ck_assert_int_eq(module_delete(m), -EBUSY);
}
END_TEST

START_TEST(test_module_load_new_leaves_loaded_code)
{
	struct code_instance *c;
	struct beam_error error;
	Term on_load;
	struct beam_out file;

	init();
	c = prepare_version(1);
	ck_assert_int_eq(module_publish(&c, 1), 0);
	beam_build(&file, BODY(19));
	ck_assert_int_eq(module_load_new(file.bytes, file.n, &error, &on_load), 0);
	ck_assert(atomic_load(&module_find(atom_from_text("m"))->current) == c);
	file.n /= 2;
	ck_assert_int_eq(module_load_new(file.bytes, file.n, &error, &on_load), -EINVAL);
}
END_TEST

START_TEST(test_code_find_place_by_address)
{
	struct code_instance *c;
	struct code_place place;
	const Inst *entry;

	init();
	c = prepare_version(1);
	ck_assert_int_eq(module_publish(&c, 1), 0);
	entry = address_of_f();
	ck_assert_ptr_eq(code_find_function(entry), entry - FUNC_INFO_WORDS);
	ck_assert(code_find_place(entry, &place));
	ck_assert(place.module == atom_from_text("m") && place.function == atom_from_text("f") && place.arity == 1);
	ck_assert_str_eq(atom_text(place.file, NULL), "m.erl");
	ck_assert_uint_eq(place.line, 10);
	ck_assert(code_find_place(entry + 1, &place));
	ck_assert_uint_eq(place.line, 20);
	ck_assert(code_find_place(c->words + c->word_count - 1, &place));
	ck_assert_str_eq(atom_text(place.file, NULL), "other.erl");
	ck_assert_uint_eq(place.line, 30);
	ck_assert(!code_find_place((const Inst *)&place + 1, &place));
	ck_assert_ptr_null(code_find_instance(c->words + c->word_count + 4096));
}
END_TEST

/* Everything that is installed (ERLVM_ROOT names another installation). Native records are the one thing that may be
 * refused. */
START_TEST(test_module_prepare_whole_installation)
{
	char pattern[1024];
	glob_t files;
	size_t refused = 0;

	init();
	snprintf(pattern, sizeof(pattern), "%s/lib/*/ebin/*.beam", code_path_root());
	ck_assert_msg(glob(pattern, 0, NULL, &files) == 0, "nothing is there: %s", pattern);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct beam_error error = { "" };
		size_t n;
		uint8_t *bytes = code_path_read(files.gl_pathv[i], &n);
		struct code_instance *c;

		ck_assert_ptr_nonnull(bytes);
		c = module_prepare(bytes, n, &error);
		mem_free(bytes);
		if (c != NULL) {
			module_free_instance(c);
			continue;
		}
		refused++;
		ck_assert_msg(strstr(error.text, "native records") != NULL, "%s: %s", files.gl_pathv[i], error.text);
	}
	ck_assert_uint_lt(refused, files.gl_pathc / 10);
	globfree(&files);
}
END_TEST

Suite *module_suite(void)
{
	Suite *s = suite_create("module");
	TCase *c = tcase_create("module");

	tcase_add_test(c, test_module_publish_replaces_and_keeps_old);
	tcase_add_test(c, test_module_delete_unbinds_exports);
	tcase_add_test(c, test_module_load_new_leaves_loaded_code);
	tcase_add_test(c, test_code_find_place_by_address);
	tcase_add_test(c, test_module_prepare_whole_installation);
	tcase_set_timeout(c, 60);
	suite_add_tcase(s, c);
	return s;
}
