#!/usr/bin/env bash
# Runs every check there is: formatting, lints, tests, documentation, the README's commands,
# the examples, frames as VTK reads them, pages in a browser, and ranks over MPI. Works from any directory.
#
# Needs a Rust toolchain and the network. On Debian it installs the packages that are missing.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-auto}
target=${CARGO_TARGET_DIR:-$root/target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
export CARGO_TARGET_DIR=$target
# Nothing is built twice here, so that notes for a second build are not worth their time.
export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}
source "$root/scripts/packages.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

passed=0
failed=0

# Runs a stage and counts how it went. The subshell stops at its first error; the script goes on.
stage() {
    local name=$1 start=$SECONDS status
    shift
    printf '\n== %s\n' "$name"
    set +e
    (
        set -euo pipefail
        "$@"
    )
    status=$?
    set -e
    if [ "$status" -eq 0 ]; then
        passed=$((passed + 1))
        printf '== %s: ok, %d s\n' "$name" "$((SECONDS - start))"
    else
        failed=$((failed + 1))
        printf '== %s: FAILED with code %d\n' "$name" "$status" >&2
    fi
}

# Starts what a later stage waits for, beside the stages before it: they leave cores idle where they link, wait for the
# network or run one long test. It gets what is left, since some tests count seconds.
begin() {
    local name=$1
    shift
    (
        set +e
        renice -n 10 -p "$BASHPID" >/dev/null
        (
            set -euo pipefail
            "$@"
        ) >"$work/$name.log" 2>&1
        echo $? >"$work/$name.partial"
        mv "$work/$name.partial" "$work/$name.status"
    ) &
}

# Waits for what was begun, shows what it said, and ends as it did.
finish() {
    until [ -e "$work/$1.status" ]; do
        sleep 0.2
    done
    cat "$work/$1.log"
    return "$(cat "$work/$1.status")"
}

install_missing() {
    local missing=()
    # Rust links with the C compiler; the frames are read in a Python environment of their own.
    makes_programs cc stdio.h 'return puts("");' || missing+=(gcc libc6-dev)
    python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
    # Frames are drawn without a screen.
    ldconfig -p | grep 'libEGL\.so\.1' >/dev/null || missing+=(libegl1)
    if [ "${#missing[@]}" -gt 0 ]; then
        install_packages "${missing[@]}"
    fi
    command -v cargo >/dev/null ||
        die "cargo is not on the path. Barchan needs Rust 1.88 or newer: https://rustup.rs installs it"
    cargo fmt --version >/dev/null 2>&1 || die "cargo fmt is missing; try: rustup component add rustfmt"
    cargo clippy --version >/dev/null 2>&1 || die "cargo clippy is missing; try: rustup component add clippy"
}

documentation() {
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
}

# Commands in the README's `sh` blocks that call barchan, by name or through cargo.
readme_commands() {
    awk '/^```sh$/ { inside = 1; next } /^```/ { inside = 0 } inside' README.md |
        grep -E '^(barchan|cargo run --release --) '
}

# Every command of the README, as written, one after another in an empty directory.
readme() {
    local count=0 command
    mkdir "$work/readme"
    readme_commands >"$work/commands"
    cd "$work/readme"
    while IFS= read -r command; do
        printf '\n$ %s\n' "$command"
        command=${command/#cargo run --release --/cargo run --release --manifest-path \"\$root/Cargo.toml\" --}
        PATH="$target/release:$PATH" root=$root bash -euo pipefail -c "$command" </dev/null
        count=$((count + 1))
    done <"$work/commands"
    if [ "$count" -lt 5 ]; then
        echo "only $count commands found in README.md" >&2
        return 1
    fi
    # What the README says the first of them leaves behind.
    local file
    for file in picture.png frames.pvd steps.csv summary.json scene.toml; do
        test -s "runs/sedimentation/$file"
    done
}

examples() {
    # The tests have built them.
    cargo build --workspace --examples
    mkdir "$work/examples"
    cd "$work/examples"
    local file name
    for file in "$root"/crates/barchan/examples/*.rs; do
        name=$(basename "$file" .rs)
        printf '\n$ example %s\n' "$name"
        # An argument is a directory for results, where an example has any.
        "$target/debug/examples/$name" "$work/examples"
    done
}

python_environment() {
    local python=$target/python
    if ! "$python/bin/python" -c 'import pyvista' 2>/dev/null; then
        rm -rf "$python"
        python3 -m venv "$python"
        "$python/bin/python" -m pip install --quiet --disable-pip-version-check "pyvista==0.49.*"
    fi
}

vtk() {
    local python=$target/python
    finish python
    "$target/release/barchan" run sedimentation --set bodies=2000 --set output.frame_interval=0.05 \
        --time 0.2 --out "$work/vtk" --quiet
    "$target/release/barchan" export "$work/vtk" --vtkhdf -o "$work/vtk.vtkhdf"
    "$python/bin/python" tests/python/vtk_check.py "$work/vtk" --points 2000 --vtkhdf "$work/vtk.vtkhdf"
    # Bodies of every shape, of which each has its surface.
    local ranks
    for ranks in 1 3; do
        "$target/release/barchan" run tests/python/shapes.toml --ranks $ranks --out "$work/vtk-shapes-$ranks" --quiet
        "$target/release/barchan" export "$work/vtk-shapes-$ranks" --vtkhdf -o "$work/vtk-shapes-$ranks.vtkhdf"
        "$python/bin/python" tests/python/vtk_check.py "$work/vtk-shapes-$ranks" --points 76 --ranks $ranks \
            --surfaces 9 --vtkhdf "$work/vtk-shapes-$ranks.vtkhdf"
    done
    # Every way to write them, and walls that move.
    local compression
    for compression in zlib none; do
        "$target/release/barchan" run shaken-box --set output.compression=$compression --set output.frame_interval=0.02 \
            --time 0.08 --out "$work/vtk-$compression" --quiet
        "$python/bin/python" tests/python/vtk_check.py "$work/vtk-$compression" --wall-files 5
    done
    # More ranks than bodies: some pieces are empty.
    "$target/release/barchan" run head-on --ranks 4 --out "$work/vtk-few" --quiet
    "$python/bin/python" tests/python/vtk_check.py "$work/vtk-few" --points 2 --ranks 4 --wall-files 0
    "$target/release/barchan" run sedimentation --set bodies=1000 --set output.frame_interval=0.05 \
        --time 0.2 --ranks 3 --out "$work/vtk-ranks" --quiet
    "$target/release/barchan" export "$work/vtk-ranks" --vtkhdf -o "$work/vtk-ranks.vtkhdf"
    "$python/bin/python" tests/python/vtk_check.py "$work/vtk-ranks" --points 1000 --ranks 3 \
        --vtkhdf "$work/vtk-ranks.vtkhdf"
}

install_missing
begin python python_environment
begin release cargo build --release
stage "scripts" "$root/tests/scripts/packages.sh"
stage "formatting" cargo fmt --all --check
stage "lints" cargo clippy --workspace --all-targets -- -D warnings
stage "tests" cargo test --workspace
stage "documentation" documentation
stage "release build" finish release
stage "commands of the README" readme
stage "examples" examples
stage "frames as VTK reads them" vtk
stage "pages in a browser" env BARCHAN="$target/release/barchan" "$root/scripts/browser.sh"
stage "ranks over MPI" "$root/scripts/mpi.sh"

printf '\n%d passed, %d failed\n' "$passed" "$failed"
test "$failed" -eq 0
