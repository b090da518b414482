#!/usr/bin/env bash
# Opens the pages that Barchan makes in a real browser, Chromium without a window, and checks what a person would
# see. Screenshots stay in the directory that is named at the end.
#
# On Debian it installs what is missing. BARCHAN names the command to test; it is built unless given.
# With --size it tells the size of a report of 100 000 spheres instead, and how fast it opens.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/packages.sh"
target=${CARGO_TARGET_DIR:-$root/target}

missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
if [ "${#missing[@]}" -gt 0 ]; then
    install_packages "${missing[@]}"
fi
if [ -z "${BARCHAN:-}" ]; then
    (cd "$root" && cargo build --release)
    BARCHAN=$target/release/barchan
fi
cd "$root/tests/browser"
cmp -s package-lock.json node_modules/.barchan-lock || {
    npm ci --silent --no-audit --no-fund
    cp package-lock.json node_modules/.barchan-lock
}
CHROMIUM=$(command -v chromium)
export BARCHAN CHROMIUM

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ "${1:-}" = --size ]; then
    "$BARCHAN" run sedimentation --set bodies=100000 --set output.frame_interval=0.005 --time "${2:-0.1}" \
        --out "$work/large" --quiet
    node size.js "$work/large/report.html"
    exit
fi

export BARCHAN_PICTURES=${BARCHAN_PICTURES:-$(mktemp -d -t barchan-browser-XXXXXX)}
# Frames that fall, settle and push, on two ranks so that colours by rank have something to show.
"$BARCHAN" run sedimentation --set bodies=1200 --set output.frame_interval=0.05 --time 0.35 --ranks 2 \
    --set 'lattice.0.radius={uniform=[0.007,0.01]}' --out "$work/whole" --quiet >/dev/null
"$BARCHAN" run packing --set bodies=200 --set solver.max_iterations=3 --steps 800 --out "$work/missed" --quiet >/dev/null
# Bodies of every shape that stay where they are, one of them turned, and a ball that falls.
cat >"$work/shapes.toml" <<'SCENE'
name = "shapes"
time = { step = 0.001, end = 1000.0 }
output.frame_interval = 0.01
body = [
    { shape.half-space = {} },
    { shape.box = { half_extents = [0.1, 0.15, 0.05] }, position = [0, 0, 0.3], motion = "fixed" },
    { shape.capsule = { radius = 0.06, half_height = 0.12 }, position = [0.5, 0, 0.3], motion = "fixed" },
    { shape.mesh = { vertices = [[-0.2, -0.2, -0.15], [0.2, -0.2, -0.15], [0.2, 0.2, -0.15], [-0.2, 0.2, -0.15], [0, 0, 0.15]], triangles = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]] }, position = [1, 0, 0.3] },
    { shape.cylinder = { radius = 0.08, half_height = 0.15 }, position = [0, 0.6, 0.3], orientation = [0, 0.258819, 0, 0.965926], motion = "fixed" },
    { shape.cone = { radius = 0.12, half_height = 0.15 }, position = [0.5, 0.6, 0.3], motion = "fixed" },
    { shape.ellipsoid.radii = [0.1, 0.15, 0.07], position = [1, 0.6, 0.3], motion = "fixed" },
    { shape.polyhedron.points = [[0.1, 0, 0], [-0.1, 0, 0], [0, 0.15, 0], [0, -0.15, 0], [0, 0, 0.2], [0, 0, -0.2]], position = [0, 1.2, 0.3], motion = "fixed" },
    { shape.composite.parts = [{ shape.box.half_extents = [0.15, 0.03, 0.03] }, { shape.box.half_extents = [0.03, 0.05, 0.12] }], position = [0.5, 1.2, 0.3], motion = "fixed" },
    { shape.sphere.radius = 0.05, position = [0.25, 0, 0.4] },
]
SCENE
"$BARCHAN" run "$work/shapes.toml" --time 0.05 --out "$work/shapes" --quiet >/dev/null
# A run that was killed, with a description that tries to leave its place.
"$BARCHAN" run packing --set bodies=100 --steps 100 --out "$work/nasty" --no-report --quiet \
    --set 'description="</script><script>globalThis.evil = 1</script><img src=x onerror=evil()>"' >/dev/null
rm "$work/nasty/summary.json"
"$BARCHAN" report "$work/nasty"
# Runs of which something is missing, or not a number.
for name in frameless stepless not-finite; do
    "$BARCHAN" run sedimentation --set bodies=50 --steps 60 --out "$work/$name" --no-report --quiet >/dev/null
done
rm -r "$work/frameless/frames" "$work"/frameless/*.pvd
sed -i '2,$d' "$work/stepless/steps.csv"
sed -i -E '30,$s/^([^,]*,[^,]*)(,[^,]*){4},1,.*/\1,50,20,2,3,1,NaN,NaN,NaN,NaN,NaN,NaN,inf,inf,NaN,1,1,NaN,1,1,1/' "$work/not-finite/steps.csv"
"$BARCHAN" run bounce --time 0.1 --out "$work/one-body" --no-report --quiet >/dev/null
"$BARCHAN" run free-gas --set nx=4 --set ny=4 --set nz=4 --steps 20 --out "$work/no-contacts" --no-report --quiet >/dev/null
for name in frameless stepless not-finite one-body no-contacts; do
    "$BARCHAN" report "$work/$name" >/dev/null
done
node run.js "$work"
