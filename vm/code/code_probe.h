/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of code: one cold function each, called behind PROBE_ON. p: who does it, and runs here. */
#ifndef VM_CODE_CODE_PROBE_H
#define VM_CODE_CODE_PROBE_H

#include "proc/process.h"
#include "usdt.h"

PROBE_COLD void probe_code__lookup__start(const Process *p, Term module);
PROBE_COLD void probe_code__lookup__end(const Process *p, Term module, bool found);
PROBE_COLD void probe_code__prepare__start(const Process *p, Term module);
PROBE_COLD void probe_code__prepare__end(const Process *p, Term module, bool prepared);
PROBE_COLD void probe_code__load(const Process *p, Term module, size_t words);
PROBE_COLD void probe_code__on_load__start(const Process *p, Term module);
PROBE_COLD void probe_code__on_load__end(const Process *p, Term module, bool kept);
PROBE_COLD void probe_code__delete(const Process *p, Term module);
PROBE_COLD void probe_code__purge__start(const Process *p, Term module);
PROBE_COLD void probe_code__purge__end(const Process *p, Term module, bool purged);
/* p: who lingers, and runs here. */
PROBE_COLD void probe_code__linger(const Process *p, Term module);
/* pid: local. */
PROBE_COLD void probe_code__kill(Term pid, Term module);

#endif
