# Installing what is missing. For the other scripts, which source it.

die() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit 1
}

# Installs Debian packages, and says what to install elsewhere.
install_packages() {
    local sudo=()
    command -v apt-get >/dev/null || die "please install what the Debian packages $* hold, and run this again"
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "missing: $*. Please run, as root: apt-get install $*"
        sudo=(sudo)
    fi
    echo "installing $*"
    "${sudo[@]}" apt-get update
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"
}
