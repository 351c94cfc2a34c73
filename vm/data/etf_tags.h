/* SPDX-License-Identifier: Apache-2.0 */
/* Tags of the external term format (format: OTP, erts/doc, erl_ext_dist). */
#ifndef VM_DATA_ETF_TAGS_H
#define VM_DATA_ETF_TAGS_H

enum etf_tag {
	ETF_VERSION = 131,
	ETF_RECORD = 67,
	ETF_NEW_FLOAT = 70,
	ETF_BIT_BINARY = 77,
	ETF_ZLIB = 80,
	ETF_ATOM_REFERENCE = 82,
	ETF_NEW_PID = 88,
	ETF_NEW_PORT = 89,
	ETF_NEWER_REFERENCE = 90,
	ETF_SMALL_INTEGER = 97,
	ETF_INTEGER = 98,
	ETF_FLOAT = 99,
	ETF_ATOM = 100,
	ETF_REFERENCE = 101,
	ETF_PORT = 102,
	ETF_PID = 103,
	ETF_SMALL_TUPLE = 104,
	ETF_LARGE_TUPLE = 105,
	ETF_NIL = 106,
	ETF_STRING = 107,
	ETF_LIST = 108,
	ETF_BINARY = 109,
	ETF_SMALL_BIG = 110,
	ETF_LARGE_BIG = 111,
	ETF_NEW_FUN = 112,
	ETF_EXPORT = 113,
	ETF_NEW_REFERENCE = 114,
	ETF_SMALL_ATOM = 115,
	ETF_MAP = 116,
	ETF_ATOM_UTF8 = 118,
	ETF_SMALL_ATOM_UTF8 = 119,
	ETF_V4_PORT = 120,
	ETF_LOCAL_TERM =
		121, /* behind it eight bytes that are this VM's; local identifiers are of the node '', creation 0 */
};

/* Longest list of bytes that is written as ETF_STRING. */
#define ETF_STRING_MAX 65535
/* Bytes of the text of an ETF_FLOAT. */
#define ETF_FLOAT_BYTES 31

#endif
