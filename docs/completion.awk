# SPDX-License-Identifier: Apache-2.0
# Prints the tables that share/completion/ completes lines of erlsnoop by, for bash and zsh alike, of the help texts that help.awk reads: its
# own, then those of its commands. `views` and `probes` (and their families), words with blanks between, come with -v. Keys: a command, or
# command:option.
function quote(s)
{
	gsub(/'/, "'\\''", s)
	return "'" s "'"
}

# What completes a value, by the word for it in the help: `one` and the values, where the word tells them with bars between.
function kind(value)
{
	if (gsub(/\|/, " ", value))
		return "one " value
	return value ~ /^VIEWS/ ? "views" : value ~ /^FILE/ ? "files" : value ~ /^PID/ ? "vms" : "none"
}

function usage(line, first, words)
{
	if (++ncommands == 1)
		return
	split(line, words, " ")
	command = words[2]
	sub(/ \[-- CMD.*/, "", line)
	operands = operands row(command, (line ~ /FILE/ ? "files " : "") (line ~ /VIEWS/ ? "views " : "") (line ~ /PROBE/ ? "probes " : ""))
	options = options row(command, "")
}

function row(key, text)
{
	return "\t[" key "]=" quote(text) "\n"
}

function prose(line)
{
}

function heading(line)
{
}

# An entry's head is an option, maybe with a value, or with a longer name of the same.
function entry(head, text, n, words, i)
{
	if (ncommands == 1) {
		names = names " " head
		abouts = abouts row(head, text)
		return
	}
	if (head !~ /^-/ || head ~ /^-- /)
		return
	n = split(head, words, /,? /)
	for (i = 1; i <= n && words[i] ~ /^-/; i++) {
		abouts = abouts row(command ":" words[i], text)
		sub(/'\n$/, " " words[i] "'\n", options)
	}
	if (i <= n)
		kinds = kinds row(command ":" words[i - 1], kind(words[i]))
}

function done()
{
	printf "_erlsnoop_commands=%s\n_erlsnoop_views=%s\n_erlsnoop_probes=%s\n", quote(substr(names, 2)), quote(views), quote(probes)
	printf "declare -gA _erlsnoop_options=(\n%s)\n# What an option needs.\ndeclare -gA _erlsnoop_values=(\n%s)\n", options, kinds
	printf "declare -gA _erlsnoop_operands=(\n%s)\ndeclare -gA _erlsnoop_about=(\n%s)\n", operands, abouts
}
