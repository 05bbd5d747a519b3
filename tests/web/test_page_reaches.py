"""Whatever the API can do, the page can do: its source asks for every operation, or it is said why not."""

from __future__ import annotations

import json
import re
from pathlib import Path

from stead.web.api import describe

SOURCE = Path(__file__).parents[2] / "frontend" / "src"
_CALL = re.compile(r"api\s*\.\s*(GET|POST|PUT|DELETE)\(\s*[\"'`](/[^\"'`]*)[\"'`]")
_RAW = re.compile(r"[\"'`]/api/v1(/[^\"'`?$]*)")

ELSEWHERE = {
    ("post", "/sign-in-codes"): "makes the link that `stead open` shows; a browser must not let in another browser",
    ("post", "/shutdown"): "only the command line may end the daemon: a page could not start it again",
    ("get", "/objectives/{session}/steps"): "the page has the timeline's items, which tell more than steps do",
    ("get", "/objectives/{session}/stays"): "what stays in the sandbox is brought over by the command line, by name",
    **{
        ("post", f"/objectives/{{session}}/{verb}"): "the page uses the session's row, which leads to the same command"
        for verb in ("delete", "messages", "pause", "resume", "revoke", "stop")
    },
    ("post", "/roles"): "the page has no form for roles yet; `stead providers use fast` has",
    ("post", "/sessions/{session}/lines"): "the page has terminals to type in; it shows the lines that a chat ran",
    ("post", "/sessions/{session}/profile"): "the page shows the change; `stead session profile` and editors make it",
    ("post", "/sessions/{session}/compact"): "the page has no form for it yet; `/compact` in `stead chat` has",
    **{
        (method, f"/external-agents{path}"): "external agents are set up by the command line, with their vendors' words"
        for method, path in (
            ("get", ""),
            ("post", ""),
            ("get", "/runs"),
            ("delete", "/{name}"),
            ("post", "/{name}/test"),
        )
    },
    ("get", "/settings"): "one file of all settings is written by `stead export config`",
    ("post", "/settings"): "and applied by `stead apply`, which shows its faults with their lines",
    ("post", "/settings/plan"): "as above",
    ("get", "/profiles"): "the page has no form for named profiles yet; `stead profile` has",
    ("post", "/profiles"): "as above",
    ("delete", "/profiles/{name}"): "as above",
    ("get", "/events/stream"): "the same events for scripts; the page watches by its WebSocket",
}
"""Operations that the page leaves to others, and why."""
_WHOLE = {"/attachments/": "/attachments/{attachment}", "/sessions/": "/sessions/{session}/raw"}
"""Of addresses that the page puts together, what they are."""


def operations() -> set[tuple[str, str]]:
    document = json.loads(describe(()))
    return {(method, path) for path, methods in document["paths"].items() for method in methods}


def asked_for() -> dict[tuple[str, str], str]:
    """The operations that the page's source names, and the file that does."""
    found: dict[tuple[str, str], str] = {}
    for file in sorted(SOURCE.rglob("*.ts*")):
        if file.name == "generated.ts" or ".test." in file.name:
            continue
        text = file.read_text("utf-8")
        name = file.relative_to(SOURCE).as_posix()
        found |= {(method.lower(), path): name for method, path in _CALL.findall(text)}
        found |= {("get", _WHOLE.get(path, path)): name for path in _RAW.findall(text)}
    return found


def test_every_operation_is_within_reach_of_the_page_or_it_is_said_why_not() -> None:
    missing = operations() - asked_for().keys() - ELSEWHERE.keys()
    assert not missing, "no page reaches:\n" + "\n".join(f"{method} {path}" for method, path in sorted(missing))


def test_what_is_left_to_others_is_there_and_the_page_does_not_ask_for_it() -> None:
    assert ELSEWHERE.keys() <= operations()
    assert not ELSEWHERE.keys() & asked_for().keys()


def test_the_page_asks_for_nothing_that_is_not_there() -> None:
    there = operations()
    known_elsewhere = {("get", "/live"), ("get", "/openapi.json")}
    strange = {
        f"{method} {path} in {file}"
        for (method, path), file in asked_for().items()
        if (method, path) not in there | known_elsewhere and not path.startswith("/live")
    }
    assert not strange
