/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that run erlvm, on a machine whose Erlang/OTP has a library that erlvm does not run: they are skipped. */
#ifndef TESTS_ERLVM_NEEDED_H
#define TESTS_ERLVM_NEEDED_H

/* Asks erlvm whether it runs the library. Once, before the first test: tests are processes of their own, that inherit
 * the answer. */
void erlvm_ask(void);
/* The sentence by which erlvm refused the library; empty: it did not. */
const char *erlvm_refusal(void);
/* Ends the running test, with a SKIP line of its name, where the library is refused; as a checked fixture, the test
 * that is about to run. Any other failure of erlvm is left for the test to meet. */
void erlvm_needed(void);

#endif
