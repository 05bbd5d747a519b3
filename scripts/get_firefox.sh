#!/bin/sh
# Installs Debian's Firefox for `make test-firefox`, unless one is here. As root, or with a sudo that asks nothing.
set -eu

! command -v firefox-esr >/dev/null 2>&1 && ! command -v firefox >/dev/null 2>&1 || exit 0
root=
[ "$(id -u)" = 0 ] || root="sudo -n"
install() { $root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends firefox-esr; }
install || { $root apt-get -q update && install; } || {
    echo "Firefox could not be installed; next: sudo apt install firefox-esr, then run it again" >&2
    exit 1
}
