/* SPDX-License-Identifier: Apache-2.0 */
/* The shortest decimal that reads back as a double; of several, the nearest. */
#ifndef VM_DATA_FLOAT_SHORTEST_H
#define VM_DATA_FLOAT_SHORTEST_H

#include <stdint.h>

/* digits * 10^exponent; digits ends in no zero and has 17 places at most. */
struct shortest {
	uint64_t digits;
	int exponent;
};

/* d must be finite and more than 0. Any thread. */
struct shortest float_shortest(double d);

#endif
