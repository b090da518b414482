#!/usr/bin/env bash
# Makes the pictures of docs/shapes.md: runs each of its scenes and draws the last frame.
#
# BARCHAN names the command; it is built unless given.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ -z "${BARCHAN:-}" ]; then
    (cd "$root" && cargo build --release)
    BARCHAN=${CARGO_TARGET_DIR:-$root/target}/release/barchan
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A file for the scene of each section, by the name of the section.
awk -v work="$work" '
    /^## / { name = $2 }
    /^```toml/ { open = 1; next }
    /^```/ { open = 0 }
    open { print > (work "/" name ".toml") }
' "$root/docs/shapes.md"
for scene in "$work"/*.toml; do
    name=$(basename "$scene" .toml)
    "$BARCHAN" run "$scene" --out "$work/$name" --no-report --quiet >/dev/null
    "$BARCHAN" render "$work/$name" -o "$root/docs/shapes/$name.png" --size 360x270 --colour id
done
