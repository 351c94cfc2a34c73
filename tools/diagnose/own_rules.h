/* SPDX-License-Identifier: Apache-2.0 */
/* A team's own rules: read from a file, asked beside those of findings.def. */
#ifndef TOOLS_OWN_RULES_H
#define TOOLS_OWN_RULES_H

#include "findings.h"

struct own_rules;

/* Owns: own_rules_free frees. Fails: said, with the file's name, line and column. */
int own_rules_load(const char *path, struct own_rules **out);
void own_rules_free(struct own_rules *rules);
/*
 * Adds what the rules find, or what those find that go by events. rules NULL: there are none. A VM that stands still is
 * asked nothing. Fails: -ENOMEM.
 */
int own_rules_ask(struct own_rules *rules, const struct evidence *evidence, bool events_alone, struct findings *out);
/* Whether a rule is called so. */
bool own_rules_has(const struct own_rules *rules, const char *name);
/* Tells `take` the rules that lacked something when they were asked last, and what. */
void own_rules_lacks(const struct own_rules *rules, void (*take)(void *ctx, const char *rule, const char *why),
                     void *ctx);
/* Those that were not asked at all: that go by memory which nobody could look at. */
void own_rules_unasked(const struct own_rules *rules, void (*take)(void *ctx, const char *rule), void *ctx);

#endif
