#!/usr/bin/env bash
# Builds with MPI and tests ranks as real processes, through `mpirun`.
#
#     scripts/mpi.sh            with Open MPI
#     scripts/mpi.sh mpich      with MPICH, in a target directory of its own
#
# Needs a Rust toolchain. On Debian it installs the packages that are missing.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
source "$root/scripts/packages.sh"
library=${1:-openmpi}
target=${CARGO_TARGET_DIR:-$root/target}

# What is missing, by what it provides: the compiler wrapper, the launcher, and libclang, which
# makes the bindings.
missing=()
case $library in
openmpi)
    export MPICC=mpicc.openmpi
    launcher=(mpirun.openmpi --oversubscribe)
    packages=(openmpi-bin libopenmpi-dev)
    # Containers run as root, which Open MPI wants to be told twice.
    if [ "$(id -u)" -eq 0 ]; then
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    fi
    ;;
mpich)
    export MPICC=mpicc.mpich
    launcher=(mpirun.mpich)
    packages=(mpich libmpich-dev)
    target=$target/mpich
    ;;
*)
    die "unknown MPI library: $library (openmpi or mpich)"
    ;;
esac
# Elsewhere than on Debian the plain names are all there is.
if ! command -v "$MPICC" >/dev/null && ! command -v apt-get >/dev/null && command -v mpicc >/dev/null; then
    export MPICC=mpicc
    launcher[0]=mpirun
fi
if ! command -v "$MPICC" >/dev/null || ! command -v "${launcher[0]}" >/dev/null; then
    missing+=("${packages[@]}")
fi
if [ -z "${LIBCLANG_PATH:-}" ] && ! compgen -G '/usr/lib/llvm-*/lib/libclang*.so*' >/dev/null &&
    ! compgen -G '/usr/lib*/libclang*.so*' >/dev/null; then
    missing+=(libclang-dev)
fi
if [ "${#missing[@]}" -gt 0 ]; then
    install_packages "${missing[@]}"
fi
mkdir -p "$target"
target=$(cd "$target" && pwd)
export CARGO_TARGET_DIR=$target

passed=0
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Runs the ranks of a case; at most a minute, so that a hang is found.
ranks() {
    local count=$1
    shift
    timeout --kill-after=5 60 "${launcher[@]}" -n "$count" "$target/debug/examples/ranks" "$@" \
        >"$work/out" 2>"$work/err" </dev/null
}

tell() {
    if [ "$1" = ok ]; then
        passed=$((passed + 1))
        printf 'ok      %s\n' "$2"
    else
        failed=$((failed + 1))
        printf 'FAILED  %s\n' "$2"
        cat "$work/out" "$work/err"
    fi
}

# A case that must succeed, on each of its ranks.
conforms() {
    local count=$1 verdict=failed
    if ranks "$count" conformance && [ "$(grep -c "of $count conforms" "$work/out")" -eq "$count" ]; then
        verdict=ok
    fi
    tell "$verdict" "every call on $count ranks"
}

# A case that must end within seconds, with a code that is not 0, and with one message if any.
fails() {
    local seconds=$1 case=$2 message=$3 start=$SECONDS verdict=ok
    if ranks 3 "$case"; then
        verdict=failed
    fi
    if [ $((SECONDS - start)) -gt "$seconds" ]; then
        verdict=failed
    fi
    if [ -n "$message" ] && [ "$(grep -cE "^error: $message" "$work/err")" -lt 1 ]; then
        verdict=failed
    fi
    tell "$verdict" "$case, $((SECONDS - start)) s: $(grep -m 1 '^error: ' "$work/err" || echo 'no message of ours')"
}

# A whole run by the command, at most two minutes.
barchan() {
    local count=$1
    shift
    timeout --kill-after=5 120 "${launcher[@]}" -n "$count" "$target/release/barchan" run "$@" \
        >"$work/out" 2>"$work/err" </dev/null
}

# The same rows whatever the number of ranks, a piece of each frame a rank, and one voice.
runs() {
    local count=$1 verdict=ok out=$work/run-$1
    barchan "$count" granular-gas --set nx=8 --set ny=7 --set nz=6 --steps 60 --solver apgd --threads 1 \
        --json --quiet --out "$out" || verdict=failed
    if [ "$(wc -l <"$work/out")" -ne 1 ] || ! grep -q "\"ranks\":$count," "$work/out"; then
        verdict=failed
    fi
    # Step, time, bodies and contacts.
    cut -d, -f1-4 "$out/steps.csv" >"$work/rows-$count" || verdict=failed
    cmp -s "$work/rows-1" "$work/rows-$count" || verdict=failed
    if [ "$count" -gt 1 ] && [ "$(ls "$out/frames" | grep -c '^frame-000001-.*vtp$')" -ne "$count" ]; then
        verdict=failed
    fi
    tell "$verdict" "a run on $count ranks"
}

# A run that all ranks refuse, with one message.
refuses() {
    local message=$1 verdict=ok
    shift
    if barchan 3 "$@" --quiet; then
        verdict=failed
    fi
    if [ "$(grep -c '^error: ' "$work/err")" -ne 1 ] || ! grep -qE "^error: $message" "$work/err"; then
        verdict=failed
    fi
    tell "$verdict" "refused: $(grep -m 1 '^error: ' "$work/err" || echo 'no message of ours')"
}

cargo clippy -p barchan-mpi -p barchan-cli --features mpi --all-targets -- -D warnings
cargo test -p barchan-mpi --features mpi
cargo build -p barchan-mpi --features mpi --example ranks
cargo build --release --features mpi

printf '\nranks of %s\n' "$library"
for count in 1 2 4; do
    conforms "$count"
done
fails 15 panic 'rank 1 of 3: panicked in stage "trouble" at .*: rank 1 fails on purpose'
fails 15 panic-in-thread 'rank 1 of 3: panicked in stage "trouble" at .*: a thread of rank 1 fails on purpose'
fails 15 abort 'rank 1 of 3: rank 1 gives up on purpose'
fails 15 kill ''
fails 20 silent 'rank [02] of 3: waited 2\.[0-9] s in stage "trouble" for rank 1$'
fails 20 absent 'rank [02] of 3: waited 2\.[0-9] s in stage "trouble" for all ranks to come to all_reduce$'
fails 20 one-sided 'rank [0-2] of 3: .*stage "trouble"'
fails 15 thread 'rank 1 of 3: MPI was called by another thread'

printf '\nruns across ranks\n'
for count in 1 2 4; do
    runs "$count"
done
refuses '.*already holds a run' bounce --steps 5 --out "$work/run-2"
refuses 'scenario "bunce"' bunce
refuses '--ranks is for a single process' bounce --ranks 2
refuses '--dump-problem: each of 3 ranks has a part' packing --set bodies=50 --steps 2 --dump-problem 1

printf '\n%d passed, %d failed\n' "$passed" "$failed"
test "$failed" -eq 0
