/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what erlsnoop diagnose may find, in Markdown, from tools/diagnose/findings.def: what `make docs` writes. */
#include <ctype.h>
#include <stdio.h>

static const struct {
	const char *rule, *kind, *sign, *why, *what_to_do, *see;
} findings[] = {
#define FINDING(rule, kind, sign, why, what_to_do, see) { #rule, kind, sign, why, what_to_do, see },
#include "../tools/diagnose/findings.def"
};

int main(void)
{
	size_t n = sizeof findings / sizeof *findings;

	printf("# What erlsnoop diagnose finds\n\n"
	       "%zu findings, by the name that `--expect` and `rule` of `--json` have. A look is one reading of the VM's\n"
	       "memory, five times a second at most; `erlsnoop.md` tells how they are ranked. tests/zoo has an illness for\n"
	       "most of them.\n\n"
	       "| name | what it is |\n|---|---|\n",
	       n);
	for (size_t i = 0; i < n; i++)
		printf("| [`%s`](#%s) | %s |\n", findings[i].rule, findings[i].rule, findings[i].kind);
	for (size_t i = 0; i < n; i++)
		printf("\n## %s\n**%c%s.** %s\n\n* Why it matters: %s.\n* What to do: %s.\n* More: `%s`\n", findings[i].rule,
		       toupper(findings[i].kind[0]), findings[i].kind + 1, findings[i].sign, findings[i].why,
		       findings[i].what_to_do, findings[i].see);
	return 0;
}
