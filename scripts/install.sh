#!/bin/sh
# Installs Stead from a release, without Python, without root. Again: an upgrade in place. Files are checked first.
#
#   sh install.sh                    the release in this script's folder
#   sh install.sh --from PLACE       a folder, or an https address, that has the release's files
#   sh install.sh --prefix DIR       into another folder than ~/.local
#   sh install.sh --signer KEY.pub   only what this SSH key has signed; take the key from elsewhere than the release
#   sh install.sh --uninstall        the program goes; homes (~/.stead) stay
set -eu

from=$(dirname "$0")
prefix=$HOME/.local
signer=
action=install

fail() {
    printf 'install: %s\n' "$1" >&2
    [ -z "${2:-}" ] || printf 'next: %s\n' "$2" >&2
    exit 1
}

while [ $# -gt 0 ]; do
    case $1 in
    --from | --prefix | --signer)
        [ $# -ge 2 ] || fail "$1 needs a value"
        case $1 in --from) from=$2 ;; --prefix) prefix=$2 ;; *) signer=$2 ;; esac
        shift 2
        ;;
    --uninstall) action=uninstall && shift ;;
    *) fail "there is no option $1" "sed -n 2,9p $0" ;;
    esac
done

case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
home=$prefix/share/stead
link=$prefix/bin/stead

if [ "$action" = uninstall ]; then
    [ -d "$home/versions" ] || fail "there is no Stead in $home"
    if [ -x "$home/current/bin/stead" ]; then "$home/current/bin/stead" down >/dev/null 2>&1 || true; fi
    case $(readlink "$link" || true) in "$home"/*) rm -f "$link" ;; esac
    rm -rf "$home"
    echo "Stead is removed. What it remembers stays: ~/.stead"
    exit 0
fi

[ "$(uname -s)" = Linux ] || fail "this release is for Linux"
machine=$(uname -m)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

# get NAME   one file of the release, into the work folder
get() {
    case $from in
    https://*)
        if command -v curl >/dev/null; then
            curl -fsSL --proto =https -o "$work/$1" "$from/$1"
        else
            wget -q -O "$work/$1" "$from/$1"
        fi || fail "$from/$1 could not be had"
        ;;
    *://*) fail "$from is not an https address" "take a folder, or https://" ;;
    *) cp "$from/$1" "$work/$1" 2>/dev/null || fail "there is no $1 in $from" "give the release's folder: --from DIR" ;;
    esac
}

get SHA256SUMS
if [ -n "$signer" ]; then
    command -v ssh-keygen >/dev/null || fail "a signature is verified by ssh-keygen, which is not here" "apt install openssh-client"
    get SHA256SUMS.sig
    key=$(cat "$signer") || fail "there is no key $signer"
    printf 'releaser namespaces="stead-release" %s\n' "$key" >"$work/signers"
    ssh-keygen -q -Y verify -f "$work/signers" -I releaser -n stead-release -s "$work/SHA256SUMS.sig" \
        <"$work/SHA256SUMS" >/dev/null 2>&1 ||
        fail "SHA256SUMS is not signed by $signer" "take the release from its maker; nothing was installed"
fi
archive=$(sed -n "s/^[0-9a-f]\{64\}  \(stead-[0-9A-Za-z.]*-linux-$machine\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS")
[ -n "$archive" ] || fail "the release in $from has no archive for Linux on $machine"
get "$archive"
(cd "$work" && grep "  $archive\$" SHA256SUMS | sha256sum -c --status -) ||
    fail "$archive is not what SHA256SUMS says: it was damaged or changed" "take the release again; nothing was installed"
version=${archive#stead-}
version=${version%-linux-*}

mkdir -p "$home/versions" "$prefix/bin"
if [ -x "$home/current/bin/stead" ] && [ "$(readlink "$home/current")" != "versions/$version" ]; then
    exec_upgrade=1
else
    exec_upgrade=
fi
if [ -n "$exec_upgrade" ]; then
    # The Stead that is there does it: it keeps a way back, and goes it by itself when the new one does not start.
    "$home/current/bin/stead" upgrade "$work/$archive" --sums "$work/SHA256SUMS"
else
    rm -rf "$home"/versions/.new-*
    new=$home/versions/.new-$$
    mkdir "$new"
    tar -xzf "$work/$archive" -C "$new"
    needs=$(sed -n 's/^glibc //p' "$new/stead-$version/NEEDS")
    said=$("$new/stead-$version/bin/stead" --version 2>&1) || {
        rm -rf "$new"
        fail "it does not run on this system: $said" "it needs the GNU C library $needs or newer (ldd --version)"
    }
    rm -rf "$home/versions/$version"
    mv "$new/stead-$version" "$home/versions/$version"
    rmdir "$new"
    ln -sfn "versions/$version" "$home/current"
fi
ln -sfn "$home/current/bin/stead" "$link"

echo "Stead $version is in $home"
case :$PATH: in
*:"$prefix/bin":*) echo "next: stead setup" ;;
*) echo "next: $link setup   (and add $prefix/bin to PATH)" ;;
esac
