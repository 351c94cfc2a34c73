/* SPDX-License-Identifier: Apache-2.0 */
/* What evidence says is wrong, in order of weight. */
#ifndef TOOLS_FINDINGS_H
#define TOOLS_FINDINGS_H

#include "evidence.h"

enum finding_rule {
#define FINDING(rule, kind, sign, why, what_to_do, see, needs, explains) FINDING_##rule,
#include "findings.def"
    FINDING_RULES,
    FINDING_OWN = FINDING_RULES /* one of a team's own (own_rules.h) */
};

/* What a rule is called, and says to everybody. */
struct finding_text {
    const char *rule, *kind, *why, *what_to_do, *see, *needs, *explains;
};
extern const struct finding_text finding_texts[FINDING_RULES];

struct finding {
    enum finding_rule rule;
    const struct finding_text *text; /* of the rule: good as long as its rules are */
    int score;      /* 1 to 100: how much others suffer from it */
    ev_id process;  /* 0: no process */
    char who[256];  /* the culprit as people know it: untrusted; "": the VM as a whole */
    char also[256]; /* who else it is about, by whom other findings may be known to be of the same; "": nobody */
    char what[512]; /* a sentence, with numbers and owners: untrusted */
    const struct finding_text *from; /* of the finding above that explains it; NULL: none */
};

struct findings {
    struct finding *all; /* the heaviest first */
    size_t n, room;
    size_t of_rule[FINDING_RULES]; /* how many each rule has added, of FINDINGS_OF_RULE at most */
    int err; /* -ENOMEM: some are not there */
};

/* Whether it cannot do without the events of some view. */
bool finding_needs_events(enum finding_rule rule);
/* Which rule is called so; FINDING_RULES: none. */
enum finding_rule finding_find(const char *rule);

/* Asks each rule that what it needs is known for. Owns: findings_free frees. Fails: -ENOMEM. */
int findings_look(const struct evidence *evidence, struct findings *out);
/* Of a VM whose memory cannot be read any more: adds what its events say to what was found before. */
int findings_count(const struct evidence *evidence, struct findings *out);
void findings_free(struct findings *findings);

/* For rules: adds one; a score below 1 is none, one above 100 is 100. Of a rule FINDINGS_OF_RULE are kept, so that none
 * crowds out the others. Whoever asks findings_room first saves the names of those that would not be. */
enum { FINDINGS_OF_RULE = 20 };
bool findings_room(const struct findings *out, enum finding_rule rule);
void findings_add(struct findings *out, enum finding_rule rule, double score, ev_id process, const char *who,
                  const char *format, ...) __attribute__((format(printf, 6, 7)));
/* The same of a team's own rule, of which the caller has no more to add than FINDINGS_OF_RULE. */
void findings_add_own(struct findings *out, const struct finding_text *text, double score, ev_id process,
                      const char *who, const char *what);
/* Who else the one that was added last, of that rule, is about. */
void findings_also(struct findings *out, enum finding_rule rule, const char *also);

/* For rules: of two numbers; and the logarithm to base ten, between powers of ten in proportion; 0 below 1. */
static inline double findings_least(double a, double b)
{
    return a < b ? a : b;
}
double findings_tens(double number);

#define FINDING(rule, kind, sign, why, what_to_do, see, needs, explains)                                               \
    void find_##rule(const struct evidence *evidence, struct findings *out);
#include "findings.def"

#endif
