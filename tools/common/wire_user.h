/* SPDX-License-Identifier: Apache-2.0 */
/* The contract with BPF, seen from user space. */
#ifndef TOOLS_WIRE_USER_H
#define TOOLS_WIRE_USER_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../bpf/wire.h"

#endif
