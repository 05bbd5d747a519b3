#!/bin/sh
# Runs a command with Node on its path: the system's where it is 22 or newer, else the one that setup.sh keeps below
# .setup, which comes from PyPI. Nothing is installed here.
#
#   scripts/with_node.sh npm --prefix frontend run build
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)

node_is_new() { "$1" -e 'process.exit(process.versions.node.split(".")[0] >= 22 ? 0 : 1)' 2>/dev/null; }

if ! command -v npm >/dev/null 2>&1 || ! node_is_new node; then
    if ! [ -x "$here/.setup/node/bin/node" ]; then
        echo "with_node: there is no Node 22 or newer here" >&2
        echo "with_node: next: make ui, which gets one" >&2
        exit 127
    fi
    export PATH="$here/.setup/node/bin:$PATH"
fi
exec "$@"
