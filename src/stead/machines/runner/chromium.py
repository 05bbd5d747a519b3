"""How Chromium is started: with which switches, and with a pipe that nothing else can speak into.

Layer: machines, runner. Standard library only.

Its own sandbox stays off: that needs user namespaces and calls that no program in a machine has. It need not be missed,
because this machine holds nothing but the browser: no workspace, no keys, no network but the proxy. A page that takes
the browser over has gained what a page could reach anyway.
"""

from __future__ import annotations

import json
import os
import resource

from .frames import Fault

_PROFILE = "/tmp/browser"  # noqa: S108 - the machine's own
_FONTS = "/tmp/fonts.conf"  # noqa: S108 - inside the machine
SIZE = (1024, 768)
_FONTS_CONF = (
    '<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>/usr/share/fonts</dir>'
    "<cachedir>/tmp/fontconfig</cachedir></fontconfig>"
)
_BUNDLE = "/run/egress/ca.pem"
_POLICIES = "/run/policies/managed"
_SWITCHES = (
    *("--headless", "--no-sandbox", "--remote-debugging-pipe", f"--user-data-dir={_PROFILE}", "--no-first-run"),
    *("--no-startup-window", "--no-zygote", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio"),
    f"--window-size={SIZE[0]},{SIZE[1]}",
    # One way out. Even this machine's own loopback goes to the proxy, which refuses it, and no name is resolved here.
    # What it asks its maker regardless of all switches bypasses the proxy, and so gets nowhere and fills no journal.
    "--proxy-server=http://127.0.0.1:3128",
    "--proxy-bypass-list=<-loopback>;update.googleapis.com;clients2.google.com;optimizationguide-pa.googleapis.com",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    *("--disable-quic", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--dns-prefetch-disable"),
    # Nothing of its own accord.
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps"),
    *("--disable-extensions", "--disable-breakpad", "--disable-crash-reporter", "--disable-domain-reliability"),
    *("--no-pings", "--password-store=basic", "--disable-hang-monitor", "--disable-client-side-phishing-detection"),
    # One page, so that one process of pages and a small cache are enough.
    *("--renderer-process-limit=1", "--disable-site-isolation-trials", "--disk-cache-size=16777216"),
    "--disable-features=IsolateOrigins,site-per-process,SpareRendererForSitePerProcess,Translate,MediaRouter,"
    "OptimizationHints,AutofillServerCommunication,InterestFeedContentSuggestions,HttpsUpgrades,NetworkTimeServiceQuerying,HttpsFirstBalancedMode",
)


def _trust() -> None:
    """Have the browser trust the proxy where it opens TLS: the last certificate of the bundle is the proxy's own."""
    with open(_BUNDLE) as file:
        body = file.read().rpartition("-----BEGIN CERTIFICATE-----")[2].partition("-----END")[0]
    os.makedirs(_POLICIES, exist_ok=True)
    with open(f"{_POLICIES}/stead.json", "w") as file:
        json.dump({"CACertificates": ["".join(body.split())]}, file)


def start(program: str) -> tuple[int, int]:
    """Start the browser; gives what it reads and what it writes.

    Raises:
        Fault: it cannot be started.
    """
    os.makedirs(_PROFILE, exist_ok=True)
    with open(_FONTS, "w") as file:
        file.write(_FONTS_CONF)
    if os.path.exists(_BUNDLE):
        _trust()
    read, into = os.pipe()
    out, write = os.pipe()
    environment = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")} | {
        "FONTCONFIG_FILE": _FONTS
    }
    high = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 2  # 3 and 4 may be our own ends of the pipes
    try:
        os.posix_spawn(
            program,
            [program, *_SWITCHES],
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, 1, 2),
                (os.POSIX_SPAWN_DUP2, read, high),
                (os.POSIX_SPAWN_DUP2, write, high + 1),
                (os.POSIX_SPAWN_DUP2, high, 3),
                (os.POSIX_SPAWN_DUP2, high + 1, 4),
                (os.POSIX_SPAWN_CLOSE, high),
                (os.POSIX_SPAWN_CLOSE, high + 1),
            ],
            setsid=True,
        )
    except OSError as error:
        raise Fault(f"the browser could not be started: {error.strerror}") from error
    finally:
        os.close(read)
        os.close(write)
    return into, out
