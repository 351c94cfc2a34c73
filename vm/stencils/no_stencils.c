/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a build that has no stencils. */
#include "jit/stencil.h"

const struct stencil stencils[] = { { 0 } };
const size_t stencil_count = 0;
const struct stencil_function stencil_functions[] = { { 0 } };
const size_t stencil_function_count = 0;
