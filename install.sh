#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs what has been built in $BUILD below $DESTDIR$PREFIX; with the argument `uninstall` takes it away again.
# Each line of the table: a folder below PREFIX, and the files that go there.
set -eu
cd "$(dirname "$0")"
root=${DESTDIR:-}$PREFIX
table="
bin                               $BUILD/erlsnoop $BUILD/erlvm
lib/erlvm/bin                     $BUILD/erl
share/man/man1                    $BUILD/share/erlsnoop.1 $BUILD/share/erlvm.1
share/bash-completion/completions $BUILD/share/bash/erlsnoop
${ZSHDIR:-share/zsh/site-functions}          $BUILD/share/zsh/_erlsnoop
share/erlsnoop/bpftrace           $(echo $(ls bpftrace/*.bt "$BUILD"/bpftrace/*.bt))
share/erlsnoop/grafana            share/grafana/erlsnoop.json
share/doc/erlsnoop                README.md CHANGELOG.md bpftrace/ONELINERS.md
share/doc/erlsnoop/docs           docs/erlsnoop.md docs/dtrace.md docs/vm.md docs/coverage.md $BUILD/docs/views.md $BUILD/docs/probes.md $BUILD/docs/illnesses.md
share/doc/erlsnoop/LICENSES       $(echo LICENSES/*)
share/doc/erlvm                   docs/vm.md
"
# Folders that are ours alone.
ours="lib/erlvm share/erlsnoop share/doc/erlsnoop share/doc/erlvm"

install_files() {
	local folder=$1 mode=644
	shift
	[[ $folder != *bin && $folder != *bpftrace ]] || mode=755
	mkdir -p "$root/$folder"
	install -m $mode "$@" "$root/$folder/"
}

remove_files() {
	local folder=$1
	shift
	for file in "$@"; do
		rm -f "$root/$folder/$(basename "$file")"
	done
}

case ${1:-install} in
install) act=install_files ;;
uninstall) act=remove_files ;;
*) echo "install.sh does not know '$1'" >&2; exit 2 ;;
esac
while read -r folder files; do
	# shellcheck disable=SC2086 # several
	[ -z "$folder" ] || $act "$folder" $files
done <<<"$table"
# The launcher finds the VM beside itself.
if [ $act = install_files ]; then
	ln -sf ../../../bin/erlvm "$root/lib/erlvm/bin/erlvm"
else
	rm -f "$root/lib/erlvm/bin/erlvm"
	for folder in $ours; do
		[ ! -d "$root/$folder" ] || find "$root/$folder" -depth -type d -empty -delete
	done
fi
