/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what erlsnoop diagnose may find, in Markdown, from tools/diagnose/findings.def: what `make docs` writes. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *rule, *kind, *sign, *why, *what_to_do, *see, *needs, *explains;
} findings[] = {
#define FINDING(rule, kind, sign, why, what_to_do, see, needs, explains)                                               \
	{ #rule, kind, sign, why, what_to_do, see, needs, explains },
#include "../tools/diagnose/findings.def"
};

/* "* Explains: `a`, `b`." of the words; nothing where there are none. */
static void print_words(const char *label, const char *words)
{
	const char *between = label;

	for (size_t n; *words; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		printf("%s`%.*s`", between, (int)(n - (words[n - 1] == '?')), words);
		if (words[n - 1] == '?')
			printf(" if it can be had");
		between = ", ";
	}
	if (between != label)
		printf(".\n");
}

int main(void)
{
	size_t n = sizeof findings / sizeof *findings;

	printf("# What erlsnoop diagnose finds\n\n"
	       "%zu findings, by the name that `--expect` and `rule` of `--json` have. A look is one reading of the VM's\n"
	       "memory, five times a second at most; what a finding needs are views, whose events are watched meanwhile.\n"
	       "`erlsnoop.md` tells how findings are ranked. tests/zoo has an illness for most of them.\n\n"
	       "| name | what it is |\n|---|---|\n",
	       n);
	for (size_t i = 0; i < n; i++)
		printf("| [`%s`](#%s) | %s |\n", findings[i].rule, findings[i].rule, findings[i].kind);
	for (size_t i = 0; i < n; i++) {
		printf("\n## %s\n**%c%s.** %s\n\n* Why it matters: %s.\n* What to do: %s.\n* More: `%s`\n", findings[i].rule,
		       toupper(findings[i].kind[0]), findings[i].kind + 1, findings[i].sign, findings[i].why,
		       findings[i].what_to_do, findings[i].see);
		print_words("* Needs the events of ", findings[i].needs);
		print_words("* What it explains, of the same process, stands below it: ", findings[i].explains);
	}
	return 0;
}
