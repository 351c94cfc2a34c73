#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes a script of bpftrace from its template, or from a script, for one VM: generate.sh VM TEMPLATE > SCRIPT
# bpftrace calls the first six arguments of a note arg0 to arg5 and has no name for later ones. The note itself says
# where they are; in a template they are arg6, arg7 ... in the clause of their probe, and become that place here, or
# those of the places where the probe stands in the VM, which the last bits of their addresses tell apart.
# bpftrace runs no script of which the VM lacks a probe. A clause below the line "// Where the VM has it:" goes then; of
# another none is made.
#   ROWS(@map, ROW, FILE)      @map[N] = "NAME" for each row ROW(N, NAME, ...) of FILE
#   ENUM(@map, PART, FILE)     for each constant of an enum in FILE whose name has PART: its value and what follows PART
#   DEFINES(@map, PART, FILE)  for each #define PARTname N of the included FILE of the system: N and the name
set -eu
vm=$(realpath "$1")
template=$(realpath "$2")
cd "$(dirname "$0")/.."
LC_ALL=C readelf -nW "$vm" 2>/dev/null | LC_ALL=C awk -v vm="$1" '
	function fail(text) {
		print "generate.sh: " vm ": " text > "/dev/stderr"
		exit failed = 1
	}
	# The name that bpftrace has for a register of any width.
	function register(name) {
		sub(/^%/, "", name)
		if (name ~ /^r[0-9]+[dwb]?$/)
			sub(/[dwb]$/, "", name)
		else
			sub(/^[er]/, "", name)
		if (name ~ /^[abcd]l$/)
			sub(/l$/, "x", name)
		else if (name ~ /^(si|di|bp|sp)l$/)
			sub(/l$/, "", name)
		return "reg(\"" name "\")"
	}
	# An operand of <sys/sdt.h>: SIZE@%reg, SIZE@OFFSET(%reg) or SIZE@$CONSTANT; a size below zero is signed.
	function value(operand,    at, size, type, place, offset) {
		at = index(operand, "@")
		size = substr(operand, 1, at - 1)
		place = substr(operand, at + 1)
		type = size < 0 ? "int" (-8 * size) : "uint" (8 * size)
		if (place ~ /^%[a-z0-9]+$/)
			return (type == "uint64" ? "" : "(" type ")") register(place)
		if (place ~ /^\$-?[0-9]+$/)
			return substr(place, 2)
		if (place !~ /^-?[0-9]*\(%[a-z0-9]+\)$/)
			fail("no way to read " operand)
		offset = place + 0
		gsub(/^[^(]*\(|\)$/, "", place)
		return "*(" type " *)(" register(place) (offset < 0 ? " - " : " + ") (offset < 0 ? -offset : offset) ")"
	}
	# Keeps the sites of the probe, or of all that a pattern means, in site[]; how many there are.
	function find_sites(probe,    pattern, name, i) {
		if (probe == found)
			return nsites
		found = probe
		nsites = 0
		pattern = "^" probe "$"
		sub(/\$1\$/, "*$", pattern)
		gsub(/\*/, ".*", pattern)
		for (name in count)
			if (name ~ pattern)
				for (i = 1; i <= count[name]; i++)
					site[++nsites] = note[name, i]
		return nsites
	}
	# Where an argument of the probe is: at one place, or by the end of the address that the probe fired at. 0: it is not
	# at one place, and there is to be one.
	function place(probe, number, alone,    i, n, part, first, text, ends) {
		if (!find_sites(probe))
			fail("no note of " probe)
		for (i = 1; i <= nsites; i++) {
			n = split(site[i], part, " ")
			if (number + 2 > n)
				fail(probe " has no arg" number)
			if (part[1] in ends && ends[part[1]] != part[number + 2])
				fail("the notes of " probe " have their arguments in different places")
			ends[part[1]] = part[number + 2]
			if (i == 1)
				text = value(first = part[number + 2])
			else if (part[number + 2] != first)
				text = alone ? 0 : "((reg(\"ip\") & 0xfff) == 0x" part[1] " ? " value(part[number + 2]) " : " text ")"
		}
		return text
	}
	# In another VM the first arguments, which bpftrace finds by itself, are not where they are in this one.
	function guard(    i, text, same) {
		for (i = 0; i < 6; i++) {
			same = place(probe, i, 1)
			if (same && same !~ /^\(/)
				text = text (text == "" ? "" : " || ") "arg" i " != " same
		}
		text = "\tif (" text ") {\n"
		text = text "\t\tprintf(\"Made for another VM: bpftrace/generate.sh makes one for this.\\n\");\n"
		return text "\t\texit();\n\t}\n"
	}
	# A clause is kept until its end, so that its guard stands first.
	function emit(line) {
		if (opened)
			body = body line "\n"
		else
			print line
	}
	function rows(map, row, file,    line, part) {
		while ((getline line < file) > 0)
			if (index(line, row "(") == 1) {
				split(substr(line, length(row) + 2), part, /, */)
				emit("\t" map "[" part[1] "] = \"" part[2] "\";")
			}
		close(file)
	}
	function constants(map, mark, file,    line, n, i, part, number) {
		while ((getline line < file) > 0) {
			n = line ~ mark ? split(line, part, ",") : 0
			for (i = 1; i <= n; i++)
				if (part[i] ~ "^[ \t]*[A-Z]+" mark) {
					number = part[i] ~ /=/ ? substr(part[i], index(part[i], "=") + 1) + 0 : number + 1
					sub(/ *=.*/, "", part[i])
					sub(".*" mark, "", part[i])
					emit("\t" map "[" number "] = \"" tolower(part[i]) "\";")
				}
		}
		close(file)
	}
	function defines(map, mark, file,    command, line, part) {
		command = "echo \"#include <" file ">\" | ${CC:-cc} -E -dM -"
		while ((command | getline line) > 0)
			if (split(line, part, " ") == 3 && index(part[2], mark) == 1)
				emit("\t" map "[" part[3] "] = \"" substr(part[2], length(mark) + 1) "\";")
		close(command)
	}
	FNR == 1 { file++ }
	file == 1 && /Provider: / { provider = $NF }
	file == 1 && $1 == "Name:" { probe = $2 }
	file == 1 && $1 == "Location:" { end = substr($2, length($2) - 3, 3) }
	file == 1 && $1 == "Arguments:" && provider == "erlang" {
		sub(/^ *Arguments: */, "")
		note[probe, ++count[probe]] = end " " $0
	}
	file == 1 { next }
	FNR == 3 { print "// Made by bpftrace/generate.sh for " vm "." }
	/^[ \t]*(ROWS|ENUM|DEFINES)\(/ {
		split($0, call, /[(), \t;]+/)
		if ($1 ~ /^ROWS/)
			rows(call[3], call[4], call[5])
		else if ($1 ~ /^DEFINES/)
			defines(call[3], call[4], call[5])
		else
			constants(call[3], call[4], call[5])
		next
	}
	/^\/\/ Where the VM has it:$/ { optional = 1; next }
	/^usdt:/ {
		split($0, clause, /[: ,]/)
		probe = clause[4]
		left_out = !find_sites(probe)
		if (left_out && !optional)
			fail("no note of " probe)
		optional = 0
	}
	left_out {
		left_out = !/^}/
		next
	}
	/^\{/ { opened = 1; body = ""; later = 0 }
	{
		while (match($0, /arg(1[0-9]|[6-9])/)) {
			wanted = substr($0, RSTART + 3, RLENGTH - 3) + 0
			$0 = substr($0, 1, RSTART - 1) place(probe, wanted) substr($0, RSTART + RLENGTH)
			later = 1
		}
	}
	{ emit($0) }
	/^\}/ && opened {
		printf "{\n%s%s", later ? guard() : "", substr(body, 3)
		opened = 0
	}
	END { exit failed }' - "$template"
