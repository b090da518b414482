#!/usr/bin/env bash
# What scripts/packages.sh takes for complete, against compilers that are not.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/scripts/packages.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$work:$PATH

# A command of this name that does what the text says.
fake() {
    printf '#!/bin/sh\n%s\n' "$2" >"$work/$1"
    chmod +x "$work/$1"
}

expect() {
    local expected=$1 what=$2 found=yes
    shift 2
    "$@" || found=no
    if [ "$found" != "$expected" ]; then
        die "$what: expected $expected, found $found"
    fi
    echo "ok: $what"
}

expect yes "a C compiler with its library" makes_programs cc stdio.h 'return puts("");'
expect no "a header that is not there" makes_programs cc barchan-no-such-header.h 'return 0;'
expect no "a function that is in no library" makes_programs cc stdio.h 'int f(void); return f();'
expect no "a compiler that is not there" makes_programs barchan-no-such-compiler stdio.h 'return 0;'

fake launcher 'exit 0'
# The wrapper of an MPI without its headers, then without its library, then whole.
mkdir "$work/include"
fake wrapper "exec cc -nostdinc -I'$work/include' \"\$@\""
expect no "an MPI without headers" has_mpi wrapper launcher
echo 'int MPI_Init(int *, char ***);' >"$work/include/mpi.h"
expect no "an MPI without its library" has_mpi wrapper launcher
echo 'int MPI_Init(int *a, char ***b) { return !a && !b; }' >"$work/mpi.c"
cc -c "$work/mpi.c" -o "$work/mpi.o"
fake wrapper "exec cc -nostdinc -I'$work/include' \"\$@\" '$work/mpi.o'"
expect yes "an MPI that is whole" has_mpi wrapper launcher
expect no "an MPI that starts nothing" has_mpi wrapper barchan-no-such-launcher

mkdir -p "$work/lib/clang/19/include" "$work/empty"
expect no "no libclang" has_libclang "$work/empty" "$work/lib"
touch "$work/lib/libclang.so.1"
expect no "a libclang without headers" has_libclang "$work/empty" "$work/lib"
touch "$work/lib/clang/19/include/stddef.h"
expect yes "a libclang that is whole" has_libclang "$work/empty" "$work/lib"
