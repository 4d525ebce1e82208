#!/usr/bin/env bash
# Runs a program of another architecture by qemu: emulated.sh ARCH PROGRAM ARGUMENT... The kernel
# knows qemu in namespaces of this command alone, so that the program can start itself again, which
# `qemu-ARCH-static PROGRAM` cannot. Needs Linux 6.7 and Debian's `qemu-user-static`.
set -euo pipefail
if [[ -z ${EMULATED:-} ]]; then
    EMULATED=1 exec unshare --user --map-root-user --mount "$0" "$@"
fi
unset EMULATED
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
cat "/usr/lib/binfmt.d/qemu-$1.conf" >/proc/sys/fs/binfmt_misc/register
exec "${@:2}"
