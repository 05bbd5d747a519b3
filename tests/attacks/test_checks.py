"""Acceptance checks of every bad kind, over the real daemon and sandbox: clear, bounded, nothing lands, nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.models import Call, Turn
from tests.flows.conftest import shared_house as house
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.served import by_turn, served

__all__ = ["house"]

DONE = Turn("All of it is done.")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def call(tool: str, **arguments: object) -> Turn:
    return Turn("", calls=(Call(tool, arguments),))


def command(line: str, **more: str) -> Json:
    return {"kind": "command", "subject": line, **more}


def ended(house: LivingHome, project: Path, *turns: Turn, **fields: object) -> Json:
    """The row of an objective of a model with these turns, after its end; nothing is sent back."""
    limits = {"repetition": 50, "send_backs": 0}
    with served(by_turn(*turns, then=DONE), strict=False) as model:
        use_model(house, model.openai)
        given = {"profile": "work", "limits": limits} | fields
        return house.finish(house.give("see to it", project, **given), timeout_s=120)


WRITE = call("write", path="out.txt", text="hello\n")

OLD = {
    "tmp": [
        command("touch made.txt /tmp/x ~/x; mkdir -p ~/.local/bin; touch /var/tmp/x /dev/shm/x; exit 1"),
        command("test -e made.txt"),
        command("test -e /tmp/x"),
        command("test -e ~/x"),
        command("test -e /var/tmp/x"),
        command("test -e /dev/shm/x"),
    ],
    "bg": [
        command("(sleep 3; touch late.txt; touch /tmp/late) & echo started"),
        command("sleep 4; test -e late.txt"),
        command("sleep 1; test -e /tmp/late"),
    ],
    "flood": [
        command("yes | head -c 200000000; exit 0"),
        command("head -c 1000000 /dev/zero | tr '\\0' a; exit 0"),
        command("yes", text="y"),
    ],
    "net": [
        command("curl -sS -m 5 http://example.com/"),
        command("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 80), 3)'"),
    ],
    "files": [
        {"kind": "exists", "subject": "dangling"},
        {"kind": "exists", "subject": "fifo"},
        {"kind": "exists", "subject": "dir"},
        {"kind": "contains", "subject": "toetc", "text": "root"},
        {"kind": "exists", "subject": "toetc"},
        {"kind": "parses", "subject": "empty.json"},
        {"kind": "parses", "subject": "empty.py"},
        {"kind": "parses", "subject": "empty.csv"},
        {"kind": "contains", "subject": "fifo", "text": "x"},
        {"kind": "contains", "subject": "dir", "text": "x"},
        {"kind": "matches", "subject": "toproc", "text": "."},
        {"kind": "untouched", "subject": "**/*"},
    ],
    "odd": [
        {"kind": "exists", "subject": s}
        for s in [
            "a\u0000b",
            "caf\u00e9.txt",
            "cafe\u0301.txt",
            "\u202egnp.exe",
            "a\nb",
            " lead",
            "x" * 2000,
            "*",
            "-rf",
            "a/b/../c" if False else "a//b",
        ]
    ]
    + [
        command("echo 'a\u0000b'"),
        {"kind": "changed", "subject": "a\u0000b"},
        {"kind": "matches", "subject": "a", "text": "\u0000"},
    ],
}


def test_probe(house: LivingHome, project: Path) -> None:
    import json, time

    (project / "fifo").mkdir if False else None
    import os

    os.mkfifo(project / "fifo")
    (project / "dir").mkdir()
    os.symlink("nowhere", project / "dangling")
    os.symlink("/etc/passwd", project / "toetc")
    os.symlink("/proc/self/environ", project / "toproc")
    for n in ("empty.json", "empty.py", "empty.csv"):
        (project / n).write_text("")
    for name, checks in PROBES.items():
        t = time.time()
        try:
            row = ended(house, project, WRITE, checks=checks)
        except Exception as e:
            print(name, "EXC", repr(e)[:1500])
            continue
        print("=====", name, row["status"], row["reason"], round(time.time() - t, 1))
        for c in row["checks"]:
            print(
                "   ",
                repr(c["words"][:80]),
                "before",
                c["before"],
                "holds",
                c["holds"],
                repr(c["detail"][:200]),
                len(c["detail"]),
            )
        print(sorted(p.name for p in project.iterdir()))
        for e in house.bodies(row["id"], "checks.run"):
            for r in e["results"]:
                if r["holds"] is None or e["when"] == "before":
                    print("      ", e["when"], repr(r["words"][:50]), r["holds"], repr(r["detail"][:160]))


P2 = {
    "tmp": OLD["tmp"]
    + [command("test -e /tmp/ran -o -e ~/ran -o -e /dev/shm/ran || { touch /tmp/ran ~/ran /dev/shm/ran; exit 1; }")],
    "bg": OLD["bg"]
    + [
        command("(exec python3 -m http.server 8123 >/dev/null 2>&1 &) ; sleep 1"),
        command("curl -sf http://127.0.0.1:8123/"),
    ],
    "flood": [command("yes | head -c 200000000; exit 0")],
}


def test_probe2(house: LivingHome, project: Path) -> None:
    import time

    poison = call(
        "shell",
        command="mkdir -p ~/.local/bin; printf '#!/bin/sh\\nexit 0\\n' > ~/.local/bin/make; chmod +x ~/.local/bin/make; echo $PATH; make test; echo rc $?",
    )
    (project / "Makefile").write_text("test:\n\tgrep -q hello never.txt\n")
    jobs = [(n, (WRITE,), c, {}) for n, c in P2.items()]
    jobs += [
        ("poison", (poison,), [command("make test")], {}),
        ("makefile", (call("write", path="Makefile", text="test:\n\ttrue\n"),), [command("make test")], {}),
        ("never", (WRITE,), [command("sleep 1000")], {"limits": {"wall_s": 2}}),
        (
            "readpoison",
            (call("shell", command="cat /home/.local/bin/make; ls -la /tmp /home"),),
            [command("make test")],
            {},
        ),
    ]
    for name, turns, checks, more in jobs:
        t = time.time()
        row = ended(house, project, *turns, checks=checks, **more)
        print(
            "=====",
            name,
            row["status"],
            row["reason"],
            row["summary"][:90],
            round(time.time() - t, 1),
            row["facts"]["paths"],
            row["facts"]["ran"],
        )
        for c in row["checks"]:
            print(
                "   ",
                repr(c["words"][:80]),
                "before",
                c["before"],
                "holds",
                c["holds"],
                repr(c["detail"][:100]),
                len(c["detail"]),
                c["touched"],
            )
        print(sorted(p.name for p in project.iterdir()))
        for e in house.bodies(row["id"], "tool.finished"):
            print("   T", repr(e["text"][:500]))
