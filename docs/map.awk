# SPDX-License-Identifier: Apache-2.0
# Prints the map of the rooms of the tree (build/docs/map.md): of each room the first line of its README.md, of each file in it the first
# sentence of the comment that it begins with. A unit of NAME.h and NAME.c is told once, by its header.
#   awk -f docs/map.awk $(sorted files of the rooms, README.md among them)
# A room without a README.md, or a file that says nothing of itself, is a failure.

function fail(text) { print "map: " text > "/dev/stderr"; failed = 1 }

# The first sentence of a comment, its lines in one.
function first_sentence(text) {
	gsub(/^[\/* \t]+|[*\/ \t]+$/, "", text)
	if (match(text, /[.:]( |$)/))
		text = substr(text, 1, RSTART - 1)
	return text
}

function read_comment(file,    line, text, n, ended) {
	while ((getline line < file) > 0) {
		if (line ~ /SPDX-License-Identifier|^#!/)
			continue
		if (++n == 1 && line !~ /^(\/\*|#)/)
			break
		sub(/^ *(\/\*+|\*\/|\*|#)[ \t]*/, "", line)
		ended = line ~ /\*\/ *$/
		sub(/ *\*\/ *$/, "", line)
		if (text != "" && line == "")
			break
		text = text (text == "" ? "" : " ") line
		if (ended || text ~ /[.:]( |$)/)
			break
	}
	close(file)
	return first_sentence(text)
}

function read_line(file,    line) {
	line = ""
	getline line < file
	close(file)
	return line
}

BEGIN {
	print "# The rooms of the tree\n\nMade by docs/map.awk from what the files say of themselves."
	for (i = 1; i < ARGC; i++)
		there[ARGV[i]] = 1
	for (i = 1; i < ARGC; i++) {
		file = ARGV[i]
		room = name = file
		sub(/\/[^\/]*$/, "", room)
		sub(/.*\//, "", name)
		if (room != last) {
			last = room
			about = (room "/README.md") in there ? read_line(room "/README.md") : ""
			if (about == "")
				fail(room ": no README.md whose first line says what the room is")
			printf "\n## %s\n\n%s\n\n", room, about
		}
		header = file
		if (name == "README.md" || (sub(/\.c$/, ".h", header) && header in there))
			continue
		about = read_comment(file)
		if (about == "")
			fail(file ": its first comment says nothing")
		printf "* `%s`: %s\n", name, about
	}
	exit failed
}
