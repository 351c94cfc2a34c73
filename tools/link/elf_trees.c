/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search trees that libelf.a and libdw.a of Debian 13 (elfutils 0.192) were packaged without: eu_tsearch() and so
 * on, which are tsearch() under a lock. Here no file is read by two threads at once, so there is no lock. Weak:
 * libraries that are whole bring their own.
 */
#include <search.h>
#include <stddef.h>

/* Of the libraries' struct the first member; they keep room for a lock behind it. */
struct tree {
    void *root;
};
typedef int compare_nodes(const void *, const void *);

void *eu_tsearch(const void *key, struct tree *tree, compare_nodes *compare);
void *eu_tfind(const void *key, struct tree *tree, compare_nodes *compare);
void *eu_tdelete(const void *key, struct tree *tree, compare_nodes *compare);
void eu_search_tree_init(struct tree *tree);
void eu_search_tree_fini(struct tree *tree, void (*free_node)(void *));

__attribute__((weak)) void *eu_tsearch(const void *key, struct tree *tree, compare_nodes *compare)
{
    return tsearch(key, &tree->root, compare);
}

__attribute__((weak)) void *eu_tfind(const void *key, struct tree *tree, compare_nodes *compare)
{
    return tfind(key, &tree->root, compare);
}

__attribute__((weak)) void *eu_tdelete(const void *key, struct tree *tree, compare_nodes *compare)
{
    return tdelete(key, &tree->root, compare);
}

__attribute__((weak)) void eu_search_tree_init(struct tree *tree)
{
    tree->root = NULL;
}

__attribute__((weak)) void eu_search_tree_fini(struct tree *tree, void (*free_node)(void *))
{
    tdestroy(tree->root, free_node);
    tree->root = NULL;
}
