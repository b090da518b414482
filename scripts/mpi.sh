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

# What is missing, by what it provides: the compiler wrapper with headers and library, the launcher, and
# libclang, which makes the bindings.
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
if ! has_mpi "$MPICC" "${launcher[0]}"; then
    missing+=("${packages[@]}")
fi
if [ -z "${LIBCLANG_PATH:-}" ] && ! has_libclang /usr/lib/llvm-*/lib /usr/lib*; then
    missing+=(libclang-dev)
fi
if [ "${#missing[@]}" -gt 0 ]; then
    install_packages "${missing[@]}"
    has_mpi "$MPICC" "${launcher[0]}" || die "$MPICC still makes no program with mpi.h, or there is no ${launcher[0]}"
fi
mkdir -p "$target"
target=$(cd "$target" && pwd)
export CARGO_TARGET_DIR=$target

passed=0
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Runs a launcher's command line; at most so many seconds, so that a hang is found.
launch() {
    local limit=$1
    shift
    timeout --kill-after=5 "$limit" "${launcher[@]}" "$@" >"$work/out" 2>"$work/err" </dev/null
}

# The ranks of a case of the example.
ranks() {
    local count=$1
    shift
    launch 60 -n "$count" "$target/debug/examples/ranks" "$@"
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

# A case that must end within seconds, with a code that is not 0, and with this message if any.
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

# A whole run by the command.
barchan() {
    local count=$1
    shift
    launch 120 -n "$count" "$binary" run "$@"
}

# Both ways to divide space and all solvers, against one process. A line a case. A busy machine may need
# minutes for the thousands of messages that wait for each other.
proves() {
    local count=$1 verdict=ok lines
    launch 300 -n "$count" "$target/debug/examples/proof" || verdict=failed
    lines=$(grep -c '^ok: ' "$work/out" || true)
    if [ "$lines" -ne 28 ]; then
        verdict=failed
    fi
    tell "$verdict" "$lines proofs on $count ranks: $(grep -m 1 'after 50 steps' "$work/out" || true)"
}

# The same rows whatever the number of ranks, a piece of each frame a rank, and one voice.
runs() {
    local count=$1 verdict=ok out=$work/run-$1
    barchan "$count" granular-gas --set clumps=0 --set nx=8 --set ny=7 --set nz=6 --steps 60 --solver apgd --threads 1 \
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

# A command line that all ranks refuse within seconds, with one message.
refuses() {
    local message=$1 start=$SECONDS verdict=ok
    shift
    if launch 30 "$@"; then
        verdict=failed
    fi
    judge_end "$verdict" "$start" "$message" refused
}

# How a run of several ranks has ended: soon, and with this one message.
judge_end() {
    local verdict=$1 start=$2 message=$3 name=$4
    if [ $((SECONDS - start)) -gt 15 ]; then
        verdict=failed
    fi
    if [ "$(grep -c '^error: ' "$work/err")" -ne 1 ] || ! grep -qE -e "^error: $message" "$work/err"; then
        verdict=failed
    fi
    tell "$verdict" "$name: $(grep -m 1 '^error: ' "$work/err" || echo 'no message of ours')"
}

# Every rank in a directory of its own, as if each had another disk, with a scene of its own. Says
# who it is before it becomes the command.
cat >"$work/at-home" <<'END'
#!/bin/sh
cd "$HOMES/${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" || exit 9
echo $$ >pid
exec "$@"
END
chmod +x "$work/at-home"

homes() {
    export HOMES=$work/homes
    rm -rf "$HOMES" "$work/faulty"
    local rank
    for rank in 0 1 2; do
        mkdir -p "$HOMES/$rank"
        "$binary" new granular-gas --set clumps=0 --set nx=8 --set ny=7 --set nz=6 --set solver.name=apgd >"$HOMES/$rank/scene.toml"
    done
}

# Waits until a command succeeds, but not for ever.
await() {
    local try
    for try in $(seq 300); do
        if "$@"; then
            return
        fi
        sleep 0.1
    done
    return 1
}

is_under_way() {
    [ -e "$work/faulty/frames/frame-000000-0001.vtp" ] && [ "$(wc -l <"$work/faulty/steps.csv")" -gt 3 ]
}

# Something happens to rank 1 in the middle of a run that would take for ever. All ranks must end.
strikes() {
    local fault=$1 message=$2 start job rank verdict=ok
    homes
    launch 60 -n 3 "$work/at-home" "$binary" run scene.toml --steps 100000000 --threads 1 --quiet \
        --out "$work/faulty" &
    job=$!
    await is_under_way || verdict=failed
    start=$SECONDS
    "$fault" || verdict=failed
    if wait "$job"; then
        verdict=failed
    fi
    for rank in 0 1 2; do
        # Those that a launcher has ended may take a moment to go.
        await is_gone "$HOMES/$rank/pid" || verdict=failed
    done
    if [ -n "$message" ]; then
        judge_end "$verdict" "$start" "$message" "$fault"
    else
        if [ $((SECONDS - start)) -gt 15 ]; then
            verdict=failed
        fi
        tell "$verdict" "$fault: all ranks ended after $((SECONDS - start)) s"
    fi
}

is_gone() {
    ! kill -0 "$(cat "$1")" 2>/dev/null
}

killed() {
    kill -KILL "$(cat "$HOMES/1/pid")"
}

# The next frames of rank 1 go to a disk that is full.
disk_full() {
    local k
    for k in $(seq 1 40); do
        ln -s /dev/full "$work/faulty/frames/$(printf '.frame-%06d-0001.vtp.partial' "$k")" 2>/dev/null || true
    done
}

# The hash of the last run's end.
hash_of() {
    grep -o '"state_hash":"[0-9a-f]*"' "$work/out"
}

# A run whose ranks are all killed on the way goes on: with the same bits on as many ranks, and to its end
# on any other number.
goes_on() {
    local again=$1 verdict=ok cut=$work/cut-$1 job rank
    homes
    launch 60 -n 3 "$work/at-home" "$binary" run scene.toml --steps 200 --checkpoint-steps 10 --threads 1 --quiet \
        --out "$cut" &
    job=$!
    await has_checkpoints "$cut" || verdict=failed
    for rank in 0 1 2; do
        kill -KILL "$(cat "$HOMES/$rank/pid")" || verdict=failed
    done
    wait "$job" && verdict=failed
    for rank in 0 1 2; do
        await is_gone "$HOMES/$rank/pid" || verdict=failed
    done
    launch 60 -n "$again" "$binary" restart "$cut" --threads 1 --json --quiet || verdict=failed
    if [ "$again" -eq 3 ] && [ "$(hash_of)" != "$(cat "$work/whole-hash")" ]; then
        verdict=failed
    fi
    cut -d, -f1-4 "$work/whole/steps.csv" >"$work/rows-whole"
    cut -d, -f1-4 "$cut/steps.csv" >"$work/rows-cut"
    cmp -s "$work/rows-whole" "$work/rows-cut" || verdict=failed
    tell "$verdict" "killed on 3 ranks, on $again: $(grep -m 1 'going on' "$work/err" || true)"
}

has_checkpoints() {
    [ "$(ls "$1/checkpoints" 2>/dev/null | grep -c 'head$')" -ge 2 ]
}

# A run that ranks refuse because of what rank 1 has at home.
refuses_home() {
    local message=$1
    refuses "$message" -n 3 "$work/at-home" "$binary" run scene.toml --steps 5 --quiet --out "$work/faulty"
}

# One answer to what all ranks were asked.
answers_once() {
    local verdict=ok
    launch 30 -n 3 "$binary" --help || verdict=failed
    if [ "$(grep -c 'Usage:' "$work/out")" -ne 1 ]; then
        verdict=failed
    fi
    tell "$verdict" "help is given once"
}

# The whole workspace is named, though little of it is built: then every dependency has the same
# features as in a build of all tests, and nothing that is there is compiled again. What MPI adds is
# built in one profile.
selected=(--workspace --features barchan-cli/mpi)
binary=$target/debug/barchan
cargo clippy "${selected[@]}" --lib --bins --examples -- -D warnings
# The tests of what is there with MPI only, and of the command's ranks.
cargo test "${selected[@]}" --lib --bins -- idle:: ranks::
cargo build "${selected[@]}" --bin barchan --example ranks --example proof

printf '\nranks of %s\n' "$library"
for count in 1 2 4; do
    conforms "$count"
done
fails 15 panic 'rank 1 of 3: panicked in stage "trouble" at .*: rank 1 fails on purpose'
fails 15 panic-in-thread 'rank 1 of 3: panicked in stage "trouble" at .*: a thread of rank 1 fails on purpose'
fails 15 abort 'rank 1 of 3: rank 1 gives up on purpose'
fails 15 kill ''
fails 30 silent 'rank [02] of 3: waited [0-9.]+ s in stage "trouble" for rank 1$'
fails 30 absent 'rank [02] of 3: waited [0-9.]+ s in stage "trouble" for all ranks to come to all_reduce$'
fails 20 one-sided 'rank [0-2] of 3: .*stage "trouble"'
fails 15 thread 'rank 1 of 3: MPI was called by another thread'

printf '\nagainst one process\n'
for count in 1 2 4; do
    proves "$count"
done

printf '\nruns across ranks\n'
for count in 1 2 4; do
    runs "$count"
done
refuses '.*already holds a run' -n 3 "$binary" run bounce --steps 5 --quiet --out "$work/run-2"
refuses 'scenario "bunce"' -n 3 "$binary" run bunce
refuses '--ranks is for a single process' -n 3 "$binary" run bounce --ranks 2
refuses '--dump-problem: each of 3 ranks has a part' \
    -n 3 "$binary" run packing --set bodies=50 --steps 2 --quiet --dump-problem 1
answers_once
refuses "unexpected argument '--stops' found" -n 3 "$binary" run bounce --stops 5
refuses "rank 2 of 3: unexpected argument '--stops' found" \
    -n 2 "$binary" run bounce --steps 5 : -n 1 "$binary" run bounce --stops 5
# Open MPI does not start so; that there is no line must not swallow the message.
OMPI_MCA_pml=nothing refuses "unexpected argument '--stops' found" -n 3 "$binary" run bounce --stops 5
BARCHAN_PATIENCE=soon refuses 'BARCHAN_PATIENCE is "soon"' -n 3 "$binary" run bounce --steps 5
refuses 'rank 0 of 3: the ranks are not the same program: rank 2 with barchan 0\.0\.1, messages of layout 0' \
    -n 2 "$binary" run bounce --steps 5 : -n 1 "$target/debug/examples/ranks" stranger

printf '\nruns in trouble\n'
homes
sed -i 's/^seed = .*/seed = 7/' "$HOMES/1/scene.toml"
refuses_home '.*the ranks have different scenes: rank 1 with seed = 7, but rank 0 with seed = '
homes
echo 'gravity = [0, 0' >"$HOMES/1/scene.toml"
refuses_home 'rank 1 of 3: scene\.toml:[12]: '
homes
rm "$HOMES/1/scene.toml"
refuses_home 'rank 1 of 3: cannot read scene\.toml: No such file'
strikes killed ''
strikes disk_full 'rank 1 of 3: cannot write .*/faulty/frames/frame-0000[0-9]*-0001\.vtp: No space left on device'

printf '\nruns that go on\n'
homes
barchan 3 "$HOMES/0/scene.toml" --steps 200 --threads 1 --json --quiet --out "$work/whole"
hash_of >"$work/whole-hash"
for count in 3 2 4; do
    goes_on "$count"
done

printf '\n%d passed, %d failed\n' "$passed" "$failed"
test "$failed" -eq 0
