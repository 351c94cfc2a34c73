#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prints tools/otp/otp_layouts.def: where the fields of bpf/otp_fields.def stand, by OTP release.
#   tools/otp/gen_layouts.sh SOURCES... > tools/otp/otp_layouts.def
# Each of SOURCES is the top of a release's sources (apt-get source erlang). They are not changed: a copy of what is
# needed is configured, three headers are made, and layout_probe.cpp is compiled with each flavour's own options.
# No VM is built. It needs what building OTP needs: gcc, g++, make, perl, libncurses-dev.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Copies what configure and the generators of headers read, and configures the runtime system only.
configure() { # source, copy
	mkdir -p "$2/lib/compiler/src"
	cp -rL "$1"/{erts,make,Makefile.in,OTP_VERSION,otp_versions.table} "$2"
	cp "$1/lib/compiler/src/genop.tab" "$2/lib/compiler/src"
	(cd "$1" && find -L lib -name '*.in' -print0 | tar -chf - --null -T -) | tar -xf - -C "$2"
	export ERL_TOP=$2
	(cd "$2/make" && ./configure) >"$2/log" 2>&1 && (cd "$2/erts" && ./configure) >>"$2/log" 2>&1 ||
		{ tail -5 "$2/log" >&2; echo "cannot configure $1" >&2; exit 1; }
}

# The values of the probe's symbols, from the assembler's source: "name value" a line.
values() {
	awk '/^OFFSET_[A-Z_0-9]*:/ { name = substr($1, 8, length($1) - 8) }
		name && /\.(value|short)/ { print name, $2 < 0 ? $2 + 65536 : $2; name = "" }
		name && /\.zero/ { print name, 0; name = "" }'
}

layout() { # copy, flavour (jit or emu), 1 with notes
	local target makefile made beam options
	cd "$1/erts/emulator"
	target=$(echo x86_64-*-linux-gnu)
	makefile="make -s -f $target/Makefile FLAVOR=$2 TYPE=opt"
	made=$target/opt/$2
	$makefile "$made/TABLES-GENERATED" "$made/erl_alloc_types.h" >"$1/log" 2>&1 ||
		{ tail -5 "$1/log" >&2; echo "cannot make the headers of $1" >&2; exit 1; }
	# The compiler's options as the release's own makefile gives them, but those of the language.
	options=$($makefile -n "obj/$made/erl_gc.o" 2>>"$1/log" | grep -o ' -[DI][^ ]*' | tr '\n' ' ')
	[ "$3" = 0 ] || options="$options -DUSE_VM_PROBES=1" # what --with-dynamic-trace defines for the structures
	echo "LAYOUT_BEGIN(${release%%.*}, $2, $3)"
	g++ -std=c++20 -fpermissive -w -S -o - -DOTP_RELEASE="${release%%.*}" $options -Inifs/common -Inifs/unix \
		-I"$here/../../bpf" "$here/layout_probe.cpp" | values | sed 's/\(.*\) 65535$/\1 OTP_NOWHERE/; s/\(.*\) \(.*\)/OFFSET(\1, \2)/' |
		awk 'length(line) + length($0) >= 120 { print line; line = "" }
			{ line = line ? line " " $0 : $0 } END { print line }'
	echo "LAYOUT_END"
}

cat <<'END'
/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the fields of bpf/otp_fields.def stand, by release; made by tools/otp/gen_layouts.sh from the sources named.
 *   LAYOUT_BEGIN(release, flavour, notes)   flavour jit or emu; notes 1: built with USDT notes
 *   OFFSET(field, value)                    every field
 *   LAYOUT_END
 */
END
for source; do
	release=$(cat "$source/OTP_VERSION")
	copy=$work/${release%%.*}
	configure "$(cd "$source" && pwd)" "$copy"
	printf '\n/* OTP %s */\n' "$release"
	for flavour in jit emu; do
		for notes in 0 1; do
			(layout "$copy" $flavour $notes)
		done
	done
done
printf '\n#undef LAYOUT_BEGIN\n#undef OFFSET\n#undef LAYOUT_END\n'
