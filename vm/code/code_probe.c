/* SPDX-License-Identifier: Apache-2.0 */
/* What the probes of code tell. */
#include "code/code_probe.h"

#include "proc/probe_tell.h"

PROBE_COLD void probe_code__lookup__start(const Process *p, Term module)
{
	PROBE_TELL(code__lookup__start, p->id, module);
}

PROBE_COLD void probe_code__lookup__end(const Process *p, Term module, bool found)
{
	PROBE_TELL(code__lookup__end, p->id, module, found);
}

PROBE_COLD void probe_code__prepare__start(const Process *p, Term module)
{
	PROBE_TELL(code__prepare__start, p->id, module);
}

PROBE_COLD void probe_code__prepare__end(const Process *p, Term module, bool prepared)
{
	PROBE_TELL(code__prepare__end, p->id, module, prepared);
}

PROBE_COLD void probe_code__load(const Process *p, Term module, size_t words)
{
	PROBE_TELL(code__load, p->id, module, words);
}

PROBE_COLD void probe_code__on_load__start(const Process *p, Term module)
{
	PROBE_TELL(code__on_load__start, p->id, module);
}

PROBE_COLD void probe_code__on_load__end(const Process *p, Term module, bool kept)
{
	PROBE_TELL(code__on_load__end, p->id, module, kept);
}

PROBE_COLD void probe_code__delete(const Process *p, Term module)
{
	PROBE_TELL(code__delete, p->id, module);
}

PROBE_COLD void probe_code__purge__start(const Process *p, Term module)
{
	PROBE_TELL(code__purge__start, p->id, module);
}

PROBE_COLD void probe_code__purge__end(const Process *p, Term module, bool purged)
{
	PROBE_TELL(code__purge__end, p->id, module, purged);
}

PROBE_COLD void probe_code__linger(const Process *p, Term module)
{
	PROBE_TELL(code__linger, p->id, module);
}

PROBE_COLD void probe_code__kill(Term pid, Term module)
{
	PROBE_TELL(code__kill, pid, module);
}
