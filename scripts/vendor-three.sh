#!/usr/bin/env bash
# Makes the bundle of three.js that the page uses, from the pinned npm packages. The bundle is part of the
# repository: this is only needed when three.js or what the page uses of it changes.
#
# With --check it compares instead, and fails if the bundle is not what the packages give.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/scripts/packages.sh"
vendor=$root/crates/barchan-view/page/vendor

missing=()
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
if [ "${#missing[@]}" -gt 0 ]; then
    install_packages "${missing[@]}"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$vendor"/package.json "$vendor"/package-lock.json "$vendor"/three.entry.js "$work"
cd "$work"
npm ci --silent --no-audit --no-fund
# One classic script: it works in a page that is opened as a file.
npx --no-install esbuild three.entry.js --bundle --minify --format=iife --global-name=THREE --target=es2022 \
    --legal-comments=inline --outfile=three.min.js --log-level=warning
if grep -q '</script' three.min.js; then
    die "the bundle cannot stand inside a page: it ends a script"
fi
if [ "${1:-}" = --check ]; then
    cmp three.min.js "$vendor/three.min.js"
    cmp node_modules/three/LICENSE "$vendor/three.LICENSE"
else
    cp three.min.js "$vendor/three.min.js"
    cp node_modules/three/LICENSE "$vendor/three.LICENSE"
fi
ls -l "$vendor/three.min.js"
