# Installing what is missing. For the other scripts, which source it.

die() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit 1
}

# Whether a compiler makes a program of this line of C with this header: the compiler alone may be there
# without the headers and libraries that it is for.
makes_programs() {
    local compiler=$1 header=$2 line=$3 place status=0
    command -v "$compiler" >/dev/null || return 1
    place=$(mktemp -d)
    printf '#include <%s>\nint main(void) { %s }\n' "$header" "$line" >"$place/main.c"
    "$compiler" "$place/main.c" -o "$place/main" >/dev/null 2>&1 || status=1
    rm -rf "$place"
    return "$status"
}

# Whether there is an MPI to build with and to start ranks with.
has_mpi() {
    local compiler=$1 launcher=$2
    command -v "$launcher" >/dev/null && makes_programs "$compiler" mpi.h 'return MPI_Init(0, 0);'
}

# Whether one of these directories has libclang with headers of its own, without which it reads no other header.
has_libclang() {
    local place
    for place in "$@"; do
        if compgen -G "$place/libclang.so*" >/dev/null && compgen -G "$place/clang/*/include/stddef.h" >/dev/null; then
            return 0
        fi
    done
    return 1
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
