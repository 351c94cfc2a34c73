/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a file of a team's own rules. Invariants: it is refused at a place that is in it, or each rule has all its
 * parts, and can be asked and said of a thing of which one name is not known. For libFuzzer.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/own_language.h"
#include "sink/sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define ENSURE(is)                                                                                                     \
    do {                                                                                                               \
        if (!(is))                                                                                                     \
            abort();                                                                                                   \
    } while (0)

/* How sizes and times look is the sink's, which is not what is tried here. */
void sink_format_size(char *out, size_t size, uint64_t bytes)
{
    snprintf(out, size, "%llu B", (unsigned long long)bytes);
}

void sink_format_ns(char *out, size_t size, uint64_t ns)
{
    snprintf(out, size, "%llu ns", (unsigned long long)ns);
}

static const struct {
    const char *name;
    struct own_name is;
} names[] = {
    {"messages", {OWN_NUMBER, OWN_PLAIN}},  {"gave_up", {OWN_NUMBER, OWN_PLAIN}}, {"calls", {OWN_NUMBER, OWN_PLAIN}},
    {"memory", {OWN_NUMBER, OWN_BYTES}},    {"searching", {OWN_NUMBER, OWN_SHARE}},
    {"seconds", {OWN_NUMBER, OWN_SECONDS}}, {"service_p50", {OWN_NUMBER, OWN_SECONDS}},
    {"messages_per_s", {OWN_NUMBER, OWN_PLAIN}}, {"name", {OWN_TEXT, OWN_PLAIN}}, {"place", {OWN_TEXT, OWN_PLAIN}},
};

static int find_scope(const char *text, size_t n)
{
    return n == 7 && !memcmp(text, "process", n) ? 0 : n == 18 && !memcmp(text, "requests_by_server", n) ? 1 : -1;
}

static int find_name(int scope, const char *text, size_t n, struct own_name *out)
{
    ENSURE(scope == 0 || scope == 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == n && !memcmp(names[i].name, text, n)) {
            *out = names[i].is;
            return (int)i;
        }
    return -1;
}

static bool is_taken(const char *rule)
{
    return !strcmp(rule, "halted");
}

static bool finds(const char *rule)
{
    return !strcmp(rule, "halted") || !strcmp(rule, "mailbox_grows");
}

static struct own_value value_of(void *ctx, int name)
{
    ENSURE(name >= 0 && (size_t)name < sizeof names / sizeof *names);
    return (struct own_value){name != *(int *)ctx, names[name].is.type == OWN_NUMBER ? 7e5 : 0, "order_server"};
}

static void check_rule(const struct own_rule *rule, int unknown)
{
    struct own_thing thing = {value_of, &unknown, NULL};
    char said[256];
    struct own_value when, score;

    ENSURE(rule->rule && rule->when && rule->score && rule->texts[OWN_TITLE] && rule->texts[OWN_WHY] &&
           rule->texts[OWN_DO] && !is_taken(rule->rule));
    when = own_evaluate(rule->when, &thing);
    ENSURE(!when.known || when.number == 0 || when.number == 1);
    score = own_evaluate(rule->score, &thing);
    ENSURE(!score.known || (score.number - score.number == 0));
    own_say(rule, &thing, said, sizeof said);
    ENSURE(memchr(said, '\0', sizeof said));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const struct own_words words = {find_scope, find_name, is_taken, finds};
    char *text = malloc(n ? n : 1); /* with nothing behind it */
    struct own_file file;
    struct own_error error;
    unsigned lines = 1;
    int err;

    if (!text)
        return 0;
    memcpy(text, bytes, n);
    for (size_t i = 0; i < n; i++)
        lines += text[i] == '\n';
    err = own_parse(text, n, &words, &file, &error);
    if (err)
        ENSURE(error.line >= 1 && error.line <= lines && error.column >= 1 && error.column <= n + 1 && *error.text);
    for (size_t i = 0; !err && i < file.n; i++)
        for (int unknown = -1; unknown < 3; unknown++)
            check_rule(&file.rules[i], unknown);
    own_file_free(&file);
    free(text);
    return 0;
}
