/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the reference of views, in Markdown, from bpf/views.def: what `make docs` writes. */
#include <stdio.h>
#include <string.h>

/* Rows in the order of the file; what belongs to a view or a table follows it. */
enum kind { ROW_VIEW, ROW_ADVICE, ROW_ON, ROW_TABLE, ROW_COL, ROW_HISTOGRAM, ROW_EVENT, ROW_ATTR, ROW_SLOWEST, ROW_OPEN, ROW_FILTER };

struct row {
	enum kind kind;
	const char *name, *text, *head, *type, *unit;
};

static const struct row rows[] = {
#define VIEW(view, family, text, what) { ROW_VIEW, #view, what, NULL, NULL, NULL },
#define HELPER(view, family) { ROW_VIEW, #view, NULL, NULL, NULL, NULL },
#define ADVICE(view, words, symptom) { ROW_ADVICE, #view, symptom, NULL, NULL, NULL },
#define ON(view, probe, source, args) { ROW_ON, #probe, args, NULL, #source, NULL },
#define TABLE(view, table, json, title, key, size, top) { ROW_TABLE, json, title, NULL, #key, NULL },
#define COL(view, table, key, kind, of, unit, head, width, text) { ROW_COL, #key, text, head, #kind, #unit },
#define HISTOGRAM(view, table, of, json, title) { ROW_HISTOGRAM, json, title, NULL, NULL, NULL },
#define EVENT(view, event, json) { ROW_EVENT, json, NULL, NULL, NULL, NULL },
#define ATTR(view, event, key, kind, texts, head, width) { ROW_ATTR, #key, #texts, head, #kind, #kind },
#define SLOWEST(view, event, json, title, by, most, shown) { ROW_SLOWEST, json, title, NULL, NULL, NULL },
#define SLOW(view, event, key, kind, of, head, width) { ROW_ATTR, #key, NULL, head, #kind, #kind },
#define OPEN(view, state, json, title, probe, ends, since, whose, of, about, what) { ROW_OPEN, json, title, #probe, #whose, NULL },
#define QUEUED(view, state, json, title, probe, ends, since, whose, of, about, what, begun, pid, kind) { ROW_OPEN, json, title, #probe, #whose, NULL },
#define READ(view, open, json, title, kind) { ROW_OPEN, json, title, NULL, #kind, NULL },
#define FILTER(view, filter, unit, text) { ROW_FILTER, #filter, text, NULL, NULL, #unit },
#include "../bpf/views.def"
};

/* What JSON adds to a key: as tools/sink/sink_jsonl.c does. */
static const char *suffix(const struct row *r)
{
	static const char *const plain[] = { "COUNT", "VM", "KEY", "TIME", "PID", "NAME", "LABEL",
					     "MADE", "STEP_TIME", "STEP", "STEP_TEXT", "MOMENT", "OWNER" };


	if (strcmp(r->type, "RATE") == 0)
		return "_per_s";
	if (strcmp(r->type, "SHARE") == 0)
		return "_percent";
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
		if (strcmp(r->type, plain[i]) == 0)
			return "";
	return strcmp(r->unit, "NS") == 0 || strcmp(r->unit, "AFTER") == 0 ? "_ns" : strcmp(r->unit, "WORDS") == 0 ? "_words" :
	       strcmp(r->unit, "BYTES") == 0 ? "_bytes" : "";
}

/* The metric of a column, or a dash: as tools/serve/metrics.c names it. table: its name in JSON. */
static const char *metric(const struct row *r, const char *table)
{
	static char text[128];
	int counter = strcmp(r->type, "COUNTER") == 0, plain = counter && strcmp(r->name, "count") == 0;
	const char *unit = strcmp(r->unit, "NS") == 0 ? "_seconds" : strcmp(r->unit, "COUNT") == 0 ? "" : "_bytes";

	if (!counter && strcmp(r->type, "HIST") != 0)
		return "-";
	snprintf(text, sizeof text, "erlsnoop_%s%s%s%s%s", table, plain ? "" : "_", plain ? "" : r->name, unit,
		 counter ? "_total" : "");
	return text;
}

static void print_row(const struct row *r)
{
	static const char *table;

	switch (r->kind) {
	case ROW_VIEW: printf("\n## erlsnoop %s\n%s\n", r->name, r->text); break;
	case ROW_ADVICE: printf("\nFor when %s.\n\nTold of:", r->text); break;
	case ROW_ON:
		printf(" `%s`%s", r->name, strcmp(r->type, "NOTES") == 0 ? " (from notes)" : strcmp(r->type, "TRAPS") == 0 ? " (from notes, not from pages)" : strcmp(r->type, "HOOKS") == 0 ? " (from hooks)" : "");
		break;
	case ROW_TABLE:
		table = r->name;
		printf("\n\n### %s\n| column | JSON | metric | meaning |\n|---|---|---|---|\n", r->name);
		break;
	case ROW_COL:
		printf("| %s | %s%s | %s | %s |\n", r->head ? r->head : "-", r->head ? r->name : "-",
		       r->head ? suffix(r) : "", metric(r, table), r->text);
		break;
	case ROW_HISTOGRAM: printf("\n### %s\nA histogram: %s.\n", r->name, r->text); break;
	case ROW_EVENT: printf("\n### %s (`--events`)\n| column | JSON |\n|---|---|\n", r->name); break;
	case ROW_OPEN:
		if (r->head)
			printf("\n\n### %s\n%s: spans that began with `%s` and have not ended, when the result does", r->name, r->text, r->head);
		else
			printf("\n\n### %s\n%s: as the VM's memory says when the result ends", r->name, r->text);
		printf(". A line in each result; none is 0, and what is not known a dash.\n\n| column | JSON | metric | meaning |\n"
		       "|---|---|---|---|\n| OPEN | open | erlsnoop_%s | how many |\n"
		       "| BEFORE | before | - | of them, those that were under way before the VM was watched |\n"
		       "| OLDEST | oldest_ns | erlsnoop_%s_oldest_seconds | the age of the oldest |\n"
		       "| AGE IS | age | - | `exact`, or `at least`: it began before |\n"
		       "| VM | vm | - | its VM |\n| OWNER | owner | - | whose it is; the label `owner` of the metric of its age |\n"
		       "| WHAT | what | - | what it is about |\n", r->name, r->name);
		break;
	case ROW_SLOWEST: printf("\n### %s (`--top N`)\n%s. Records of --events.\n\n| column | JSON |\n|---|---|\n",
				 r->name, r->text); break;
	case ROW_ATTR:
		printf("| %s | %s%s%s%s |\n", r->head, r->name, suffix(r), strcmp(r->type, "LABEL") == 0 ? ": one of " : "",
		       strcmp(r->type, "LABEL") == 0 ? r->text : "");
		break;
	case ROW_FILTER: printf("\n`--%s TIME`: %s.\n", r->name, r->text); break;
	}
}

int main(void)
{
	int helper = 0;

	printf("# The questions of erlsnoop\n\nGenerated from bpf/views.def.\n");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		helper = rows[i].kind == ROW_VIEW ? !rows[i].text : helper;
		if (!helper)
			print_row(&rows[i]);
	}
	return 0;
}
