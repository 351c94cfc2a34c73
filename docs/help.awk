# SPDX-License-Identifier: Apache-2.0
# Reads help texts, each a file, and hands their parts on in order to functions of man.awk or completion.awk:
#   usage(line, first)  a way to call it; first: of this text
#   prose(line)         a line of a paragraph; "" ends it
#   heading(line)       what stands above entries, without its colon
#   entry(head, text)   an option, an operand or a command, and what it does, "" if nothing is said
#   done()              there is no more
# The text of an entry begins in `column`, which is set before each file, in a line of its own where the head is long.
function finish_entry()
{
	if (head != "")
		entry(head, text)
	head = text = ""
}

function begin_entry(line)
{
	finish_entry()
	if (substr(line, column - 1, 2) ~ /^ [^ ]/) {
		text = substr(line, column)
		line = substr(line, 1, column - 1)
	}
	gsub(/^ +| +$/, "", line)
	head = line
}

/^[Uu]sage: / { finish_entry(); usage(substr($0, 8), 1); last = "usage"; next }
/^       / && last == "usage" { usage(substr($0, 8), 0); next }
/^$/ { finish_entry(); prose(""); last = ""; next }
head != "" && substr($0, 1, column - 1) ~ /^ +$/ { text = text (text == "" ? "" : " ") substr($0, column); next }
/^  / { begin_entry($0); last = "entry"; next }
{ finish_entry() }
/:$/ && last != "usage" { heading(substr($0, 1, length($0) - 1)); next }
{ prose($0); last = "prose" }
END { finish_entry(); done() }
