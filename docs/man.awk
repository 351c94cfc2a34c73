# SPDX-License-Identifier: Apache-2.0
# Prints a man page, of the help texts that help.awk reads: the program's own, then those of its commands. `name` and `what` of the program,
# its `version`, the `date`, and the page that it refers to (`also`) come with -v.
function escape(s)
{
	gsub(/\\/, "\\e", s)
	gsub(/-/, "\\-", s)
	gsub(/'/, "\\(aq", s)
	sub(/^\./, "\\\\\\&.", s)
	return s
}

# A head's options are bold, what stands for a value is slanted.
function mark(head, words, n, i, line)
{
	n = split(head, words, " ")
	for (i = 1; i <= n; i++)
		line = line (i > 1 ? " " : "") (words[i] ~ /^[-+a-z]/ ? "\\fB" : "\\fI") escape(words[i]) "\\fR"
	return line
}

function begin_text(line)
{
	broken = spoken = 0
	if (++ntexts == 1)
		printf ".TH %s 1 %s \"%s %s\" \"User Commands\"\n.SH NAME\n%s \\- %s\n.SH SYNOPSIS\n.nf\n", toupper(name), date, name,
			version, name, what
	else
		printf "%s.SS %s\n.nf\n", ntexts == 2 ? ".SH COMMANDS\n" : "", escape(command(line))
}

# "erlsnoop watch" of "erlsnoop watch VIEWS [options]".
function command(line)
{
	split(line, words, " ")
	return "\"" words[1] " " words[2] "\""
}

function end_usage()
{
	if (in_usage)
		print ".fi" (ntexts == 1 ? "\n.SH DESCRIPTION" : "")
	if (in_usage && ntexts > 1)
		print ".PP"
	in_usage = 0
}

function usage(line, first)
{
	if (first) {
		end_usage()
		begin_text(line)
	}
	in_usage = 1
	print escape(line)
}

function prose(line)
{
	end_usage()
	if (line != "" && broken)
		print ".PP"
	broken = line == "" && spoken
	sub(/^ +/, "", line)
	if (line != "") {
		print escape(line)
		spoken = 1
	}
}

function heading(line)
{
	end_usage()
	print ".SS \"" escape(line) "\""
	broken = 0
}

function entry(head, text)
{
	end_usage()
	printf ".TP\n%s\n%s", mark(head), text == "" ? "" : escape(text) "\n"
	broken = 1
}

function done()
{
	printf ".SH SEE ALSO\n.BR %s (1)\n", also
}
