#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In a chroot of check_install.sh: the part that the argument names.
set -eu
cd /root

# A failure ends this, of what is told to fail too.
refused() { if "$@"; then return 1; fi; }

install() { apt-get -q install -y --no-install-recommends "$@"; }

count() {
	erlsnoop spawns --json -- "$@" -noshell -eval 'spawn(fun() -> ok end), halt().' >counted
	cat counted
	grep -qE '"type":"spawns".*"births":[1-9]' counted
}

case $1 in
build)
	cd src
	apt-get -q update
	apt-get -q build-dep -y --no-install-recommends ./
	dpkg-buildpackage -us -uc -b
	;;
lint)
	lintian --allow-root --fail-on error *.changes
	;;
install)
	apt-get -q update
	install ./erlsnoop_*.deb
	erlsnoop --version
	ldd /usr/bin/erlsnoop | refused grep -vE 'linux-vdso|libc\.so\.6|ld-linux'
	;;
count)
	install erlang-base
	count erl
	;;
page)
	install man-db
	man erlsnoop | col -b >page
	grep -q 'erlsnoop msglat \[options\]' page && grep -q 'SEE ALSO' page
	;;
complete)
	install bash-completion
	bash -c '. /usr/share/bash-completion/bash_completion
		if declare -F _comp_load >/dev/null; then _comp_load erlsnoop; else _completion_loader erlsnoop || [ $? = 124 ]; fi
		COMP_WORDS=(erlsnoop watch spawns,g) COMP_CWORD=2
		_erlsnoop
		echo "${COMPREPLY[@]}"
		[ "${COMPREPLY[*]}" = spawns,gc ]'
	;;
erlvm)
	install ./erlvm_*.deb
	PATH=/usr/lib/erlvm/bin:$PATH
	erl -noshell -eval 'io:put_chars(os:getenv("PROGNAME")), halt().'
	count erl
	apt-get -q purge -y erlvm
	refused ls /usr/bin/erlvm
	refused ls /usr/lib/erlvm
	;;
remove)
	apt-get -q purge -y erlsnoop
	find / -xdev \( -path /root -o -path /var/cache \) -prune -o -iname '*erlsnoop*' -print | refused grep .
	;;
esac
