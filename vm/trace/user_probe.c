/* SPDX-License-Identifier: Apache-2.0 */
/* The probes that Erlang code fires. Those with a number have no events in pages (proc/batch.h): their notes alone
 * tell. */
#include "trace/user_probe.h"

#include "proc/probe_tell.h"
#include "term/atom.h"

PROBE_COLD void probe_user_trace__s1(const char *message)
{
	PROBE_TELL(user_trace__s1, message);
}

PROBE_COLD void probe_user_trace__i4s4(const Process *p, const struct user_event *e)
{
	PROBE_TELL(user_trace__i4s4, p->id, e->tag, e->numbers[0], e->numbers[1], e->numbers[2], e->numbers[3],
		   e->texts[0], e->texts[1],
		   e->texts[2], e->texts[3]);
}

PROBE_COLD void probe_trace(Term tracee, Term event, Term state, Term arg1, Term arg2)
{
	PROBE_TELL(trace, tracee, atom_text(event, NULL), state, arg1, arg2);
}

PROBE_COLD void probe_trace_seq(Term state, Term label, Term seq_info)
{
	PROBE_TELL(trace_seq, state, label, seq_info);
}

/* ---- user_trace__n<number> */

/* DO(0) .. DO(950): each number is written out, as it is part of a name. */
#define TEN(DO, tens)                                                                                                  \
	DO(tens##0)                                                                                                    \
	DO(tens##1) DO(tens##2) DO(tens##3) DO(tens##4) DO(tens##5) DO(tens##6) DO(tens##7) DO(tens##8) DO(tens##9)
#define FIFTY(DO, hundreds)                                                                                            \
	TEN(DO, hundreds##0) TEN(DO, hundreds##1) TEN(DO, hundreds##2) TEN(DO, hundreds##3) TEN(DO, hundreds##4)
#define HUNDRED(DO, hundreds)                                                                                          \
	FIFTY(DO, hundreds)                                                                                            \
	TEN(DO, hundreds##5) TEN(DO, hundreds##6) TEN(DO, hundreds##7) TEN(DO, hundreds##8) TEN(DO, hundreds##9)
#define FIRST_HUNDRED(DO)                                                                                              \
	TEN(DO, ) TEN(DO, 1) TEN(DO, 2) TEN(DO, 3) TEN(DO, 4) TEN(DO, 5) TEN(DO, 6) TEN(DO, 7) TEN(DO, 8) TEN(DO, 9)
#define EACH_NUMBER(DO)                                                                                                \
	FIRST_HUNDRED(DO) HUNDRED(DO, 1) HUNDRED(DO, 2) HUNDRED(DO, 3) HUNDRED(DO, 4) HUNDRED(DO, 5)                   \
	HUNDRED(DO, 6) HUNDRED(DO, 7) HUNDRED(DO, 8) FIFTY(DO, 9) DO(950)

enum {
	NUMBERS = PROBE_LAST_user_trace__n - PROBE_FIRST_user_trace__n + 1,
#define COUNT(number) + 1
	SITES = 0 EACH_NUMBER(COUNT),
};
_Static_assert(PROBE_FIRST_user_trace__n == 0 && (int)SITES == (int)NUMBERS, "user_trace__n: a number lacks its site");

#if ERLVM_PROBES

/* The kernel counts in them by the names that the notes give. */
union probe_semaphores user_trace__n_semaphores[NUMBERS] __attribute__((section(".probes"), visibility("hidden")));
#define SEMAPHORE(number)                                                                                              \
	__asm__(".hidden erlang_user_trace__n" #number "_semaphore\n"                                                  \
		".set erlang_user_trace__n" #number "_semaphore, user_trace__n_semaphores + 4 * " #number);            \
	extern unsigned short erlang_user_trace__n##number##_semaphore __attribute__((visibility("hidden")));
EACH_NUMBER(SEMAPHORE)
_Static_assert(sizeof(union probe_semaphores) == 4, "a number's semaphores stand elsewhere");

bool user_probe_is_on(unsigned number)
{
	const volatile unsigned short *notes = &user_trace__n_semaphores[number].notes;

	return *notes != 0;
}

static PROBE_COLD void emit(unsigned number, probe_arg_user_trace__n_0 probe_a0, probe_arg_user_trace__n_1 probe_a1,
			    const int64_t *numbers,
			    const char *const *texts)
{
	int64_t probe_a2 = numbers[0], probe_a3 = numbers[1], probe_a4 = numbers[2], probe_a5 = numbers[3];
	const char *probe_a6 = texts[0], *probe_a7 = texts[1], *probe_a8 = texts[2], *probe_a9 = texts[3];

	switch (number) {
#define SITE(number)                                                                                                   \
	case number:                                                                                                   \
		PROBE_EMIT(10, user_trace__n##number);                                                                 \
		break;
		EACH_NUMBER(SITE)
	}
}

PROBE_COLD void user_probe_fire(unsigned number, const Process *p, const struct user_event *e)
{
	char pid[PROBE_TEXT_BYTES], tag[PROBE_TEXT_BYTES], cut[USER_EVENT_TEXTS][PROBE_TEXT_BYTES];
	const char *texts[USER_EVENT_TEXTS];

	for (unsigned i = 0; i < USER_EVENT_TEXTS; i++)
		texts[i] = probe_shown_text(cut[i], e->texts[i]);
	emit(number, probe_term_text(pid, p->id), probe_shown_text(tag, e->tag), e->numbers, texts);
}

#else

bool user_probe_is_on(unsigned number)
{
	(void)number;
	return false;
}

PROBE_COLD void user_probe_fire(unsigned number, const Process *p, const struct user_event *e)
{
	(void)number, (void)p, (void)e;
}

#endif
