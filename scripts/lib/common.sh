# What the scripts share.  Source it; it moves to the top of the repository.
# shellcheck shell=bash disable=SC2034

script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit

jobs="${JOBS:-$(nproc)}"
tail_lines=30

# Debian 12 package names.  CONTRIBUTING.md points here.
build_packages=(
    clang-19 lld-19 libclang-rt-19-dev llvm-19 cmake ninja-build ccache git python3 pkg-config
    libboost1.81-dev libboost-json1.81-dev libsqlite3-dev libsqlitecpp-dev libcli11-dev
    libfmt-dev libspdlog-dev libyaml-cpp-dev libcurl4-openssl-dev libssl-dev zlib1g-dev
    libhowardhinnant-date-dev tzdata
    libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
)
test_packages=(clang-format-19 shellcheck tmux curl python3-websockets man-db mandoc zsh fish)
# Bring a server along that nobody here needs to run: promtool comes with Prometheus.
test_server_packages=(prometheus)
# Any node will do, whoever packaged it: Debian's would replace one from elsewhere.
command -v node >/dev/null || test_packages+=(nodejs npm)
lint_packages=(clang-format-19 clang-tidy-19 shellcheck g++-12)

# Sanitizers look for llvm-symbolizer in PATH; Debian keeps it here.
export PATH="$PATH:/usr/lib/llvm-19/bin"

# ccache refuses to work without a folder it can write to.
if [[ -z ${CCACHE_DIR:-} && ! -w ${HOME:-/nonexistent} ]]; then
    export CCACHE_DIR="$PWD/.cache/ccache"
fi

# The first comment of the script, for --help.
usage() {
    sed -n '2,/^$/s/^# \{0,1\}//p' "$script"
}

wrong_usage() {
    printf '%s: unknown option %s\n\n' "$0" "$1" >&2
    usage >&2
    exit 2
}

# step NAME COMMAND...: one line of progress; the output goes to build/logs/NAME.log and is shown
# only when the command fails.
step() {
    local name=$1 status=0 started=$SECONDS
    local log="build/logs/${name// /-}.log"
    shift
    mkdir -p build/logs
    printf '▸ %s ... ' "$name"
    "$@" >"$log" 2>&1 </dev/null || status=$?
    if ((status == 0)); then
        printf 'ok (%d s)\n' $((SECONDS - started))
        return 0
    fi
    printf 'FAILED (%d s)\n\n' $((SECONDS - started))
    tail -n "$tail_lines" "$log" | sed 's/^/    /'
    printf '\n%s failed; all of its output is in %s\n' "$name" "$log"
    return "$status"
}

is_installed() {
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# install_packages NAME...: does nothing, and needs no network, when all are there.
install_packages() {
    local package missing=()
    if ! command -v dpkg-query >/dev/null; then
        printf 'Not a Debian system: expecting to find what these packages hold: %s\n' "$*"
        return 0
    fi
    for package in "$@"; do
        is_installed "$package" || missing+=("$package")
    done
    ((${#missing[@]})) || return 0

    local as_root=()
    if ((EUID != 0)); then
        if ! command -v sudo >/dev/null; then
            printf 'Please install, as root: apt-get install %s\n' "${missing[*]}" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
    printf 'To install: %s\n' "${missing[*]}"
    step "package lists" "${as_root[@]}" update &&
        step "install packages" "${as_root[@]}" install -y --no-install-recommends "${missing[@]}"
}

# install_without_starting NAME...: servers that a script starts and stops by itself must not be
# started by their installation.
install_without_starting() {
    local policy=/usr/sbin/policy-rc.d as_root=() status=0 package all_there=true
    for package in "$@"; do
        is_installed "$package" || all_there=false
    done
    if $all_there; then return 0; fi
    ((EUID == 0)) || as_root=(sudo)
    if [[ -e $policy ]] || ! command -v dpkg-query >/dev/null; then
        install_packages "$@"
        return
    fi
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" install -m 755 /dev/stdin "$policy"
    install_packages "$@" || status=$?
    "${as_root[@]}" rm -f "$policy"
    return "$status"
}

# build PRESET [TARGET...]
build() {
    local preset=$1
    shift
    step "configure $preset" cmake --preset "$preset" &&
        step "build $preset" cmake --build --preset "$preset" --parallel "$jobs" \
            ${1:+--target "$@"}
}

# All our C++ sources, ended by NUL.
cpp_files() {
    find . \( -name build -o -name '.?*' \) -prune -o \( -name '*.cpp' -o -name '*.hpp' \) -print0
}

check_format() {
    cpp_files | xargs -0 clang-format-19 --dry-run --Werror
}

apply_format() {
    cpp_files | xargs -0 clang-format-19 -i
}

# Tests are left out: GoogleTest is slow to parse, and the compiler's own warnings cover them.
check_tidy() {
    find src -name '*.cpp' ! -name '*_test.cpp' -print0 |
        xargs -0 -n 1 -P "$jobs" clang-tidy-19 -p build/release --quiet
}

check_scripts() {
    shellcheck scripts/lib/*.sh scripts/bench scripts/coverage scripts/install scripts/lint scripts/mutate scripts/run scripts/sim scripts/test scripts/torture .ci/run
}
