"""Every route of the door against everything that can be wrong with a knock (bar S12)."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

import pytest

import stead.web
from tests.attacks import door_matrix
from tests.attacks.door_matrix import BEARER_ONLY, BODY, LIVE, PUBLIC, STREAM, Door, Flaw, Knocker, Route, Try
from tests.promises import promise

WEB = Path(stead.web.__file__).parent
BESIDE_THE_DOCUMENT = {
    *("GET /openapi.json", "GET /{path:path}"),
    *("WS /live", "WS /sessions/{session}/terminals/{terminal}", "WS /{path:path}"),
}
"""The document itself, the page's files, the WebSockets, and what says of every other path that there is none."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY")
ODD_PATHS = (
    "/api",
    "/api/",
    "/api/v1",
    "/api/v1/",
    "/api/v2/status",
    "/api/v1/status/",
    "/api/v1//status",
    "/api/v1/./status",
    "/api/v1/objectives/../status",
    "/page/../api/v1/status",
    "/%61pi/v1/status",
    "/api%2fv1%2fstatus",
    "/api/v1/%73tatus",
    "/api/v1/status;x=1",
    "/api/v1/status%00",
    "/api/v1/status%3f",
    "//api/v1/status",
    "/api/v1/openapi.json/",
    "/api/v1/docs",
    "/api/v1/redoc",
    "/api\\v1\\status",
    "http://127.0.0.1/api/v1/status",
    "*",
)


def secrets_of(who: Knocker) -> list[str]:
    """What no refusal may tell."""
    return [who.bearer, who.cookie, who.signed_out, *who.elsewhere, str(who.house.root), "Traceback", ".py"]


def routes_of(who: Knocker) -> list[Route]:
    return door_matrix.routes(who.house.get("/openapi.json"))


def one_in_five(tries: Iterable[Try]) -> Iterator[Try]:
    """Of each rule's flaws at a route a fifth, at least one; at the next route the next fifth."""
    numbers: dict[Route, int] = {}
    for (route, _, _), flaws in groupby(tries, lambda one: (one.route, one.door, one.flaws[0].rule)):
        all_of_rule = list(flaws)
        yield from all_of_rule[numbers.setdefault(route, len(numbers)) % 5 :: 5] or all_of_rule[:1]


@promise("SEC-9.host", "SEC-9.csrf", "SEC-9.cookie")
@pytest.mark.parametrize(
    ("some", "at_least"), [(one_in_five, 3_000), pytest.param(list, 15_000, marks=pytest.mark.long)], ids=["5th", "all"]
)
def test_each_flaw_of_a_knock_is_refused_at_every_route_by_its_own_rule(
    knocker: Knocker, some: Callable[[Iterable[Try]], Iterable[Try]], at_least: int
) -> None:
    every = list(door_matrix.tries(routes_of(knocker), door_matrix.flaws(knocker), at_once=1))
    tries = list(some(every))
    head, secrets = knocker.house.get("/status")["head"], secrets_of(knocker)

    wrong = [said for one in tries if (said := door_matrix.judge(knocker, one, secrets))]

    assert wrong == []
    assert len(tries) > at_least
    assert knocker.house.get("/status")["head"] == head, "a refused request was recorded"
    for part in (lambda one: (one.door, one.flaws[0].name), lambda one: (one.route, one.door, one.flaws[0].rule)):
        assert {*map(part, tries)} == {*map(part, every)}, "each flaw somewhere, each rule everywhere"


def test_a_knock_without_a_flaw_gets_past_the_door_at_every_route(knocker: Knocker) -> None:
    """Or the matrix would hold of a door that is bricked up."""
    doors: tuple[Door, ...] = ("cli", "page")
    for route in routes_of(knocker):
        for door in doors:
            answer = knocker.knock(route, knocker.good(door, route))
            if door == "page" and route.path in BEARER_ONLY:
                assert answer.status == 403, route
            elif route.method == "WS":
                assert answer.status == 101, (door, route)
            else:
                assert answer.status in (200, 400, 404), (door, route, answer)


def test_without_a_credential_only_the_public_routes_answer(knocker: Knocker) -> None:
    reached = set()
    doors: tuple[tuple[Door, str], ...] = (("cli", "Authorization"), ("page", "Cookie"))
    for route in routes_of(knocker):
        for door, credential in doors:
            headers = knocker.good(door, route)
            del headers[credential]
            if knocker.knock(route, headers).status != 401:
                reached.add((door, route.method, route.path))
    assert reached == PUBLIC


@pytest.mark.parametrize("door", ["cli", "page"])
def test_no_method_beside_the_documented_ones_does_anything(knocker: Knocker, door: Door) -> None:
    paths = knocker.house.get("/openapi.json")["paths"]
    documented = [(method.upper(), "/api/v1" + path) for path, methods in paths.items() for method in methods]
    documented += [("GET", LIVE), ("GET", "/api/v1/openapi.json"), ("HEAD", STREAM), ("HEAD", "/api/v1/status")]
    patterns = [(method, re.compile(re.sub(r"\{\w+\}", "[^/]+", path))) for method, path in documented]
    for path in sorted({route.path for route in routes_of(knocker)}):
        for method in METHODS:
            if any(method == known and pattern.fullmatch(path) for known, pattern in patterns):
                continue
            route = Route(method, path)
            good = knocker.good(door, route)
            stranger = {name: value for name, value in good.items() if name not in ("Authorization", "Cookie")}
            answers = [knocker.knock(route, good), knocker.knock(route, stranger)]
            expected = {401} if ("page", "POST", path) not in PUBLIC or door == "cli" else {401, 405}
            assert answers[0].status in ((403, 404, 405) if path in BEARER_ONLY else (404, 405)), (route, answers[0])
            assert answers[1].status in expected, (route, answers[1])
            assert "access-control-allow-methods" not in answers[0].headers


@pytest.mark.parametrize("path", ODD_PATHS)
def test_no_way_of_writing_a_path_leads_around_the_credential(knocker: Knocker, path: str) -> None:
    for method in ("GET", "POST"):
        route = Route(method, path)
        for headers in ({"Host": knocker.api}, {"Host": knocker.page}, {"Host": knocker.page, "Cookie": "stead=x"}):
            if method == "POST":
                shown = {"Origin": f"http://{headers['Host']}", "X-Stead": "1", "Content-Type": "application/json"}
                headers |= shown | {"Content-Length": str(len(BODY))}
            answer = knocker.knock(route, headers)
            assert 400 <= answer.status < 500, (path, headers, answer)
            assert b'"head"' not in answer.body


def test_every_route_in_the_code_stands_in_the_document(knocker: Knocker) -> None:
    """So that the matrix, which reads the document, leaves none out."""
    document = knocker.house.get("/openapi.json")
    documented = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}

    assert set(routes_in_the_code()) == documented | BESIDE_THE_DOCUMENT


def routes_in_the_code() -> Iterator[str]:
    """Method and path of every route that the door's modules name; ``routes.py`` has only the form of a row."""
    for module in sorted({*WEB.glob("*.py")} - {WEB / "routes.py"}):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if not isinstance(node, ast.Call) or called not in ("Route", "WebSocketRoute", "get", "post"):
                continue
            first, second = (word.value if isinstance(word, ast.Constant) else None for word in node.args[:2])
            if called in ("get", "post"):
                first, second = called.upper(), first
            elif second is None:
                first, second = "GET" if called == "Route" else "WS", str(first).removeprefix("/api/v1")
            assert isinstance(first, str) and isinstance(second, str), (
                f"a route whose path is no literal: {ast.unparse(node)}"
            )
            path = second if second == "/{path:path}" else re.sub(r":[a-z]+}", "}", second)
            yield f"{first} {path}"  # the document names no kinds of ids


def test_the_matrix_finds_a_door_that_is_ajar(knocker: Knocker) -> None:
    """A flaw that is none stands for a door that does not look: the answer is not the refusal that is expected."""
    harmless = Flaw("nothing", "host", "cli", {"X-Harmless": "1"}, frozenset({421}))
    one = Try(Route("GET", "/api/v1/status"), "cli", (harmless,))

    assert "answered 200, not {421}" in door_matrix.judge(knocker, one, [])


@pytest.mark.long
@pytest.mark.timeout(600)
def test_every_two_flaws_of_a_knock_are_refused_at_every_route(knocker: Knocker) -> None:
    tries = list(door_matrix.tries(routes_of(knocker), door_matrix.flaws(knocker), at_once=2))
    secrets = secrets_of(knocker)

    wrong = [said for one in tries[::7] if (said := door_matrix.judge(knocker, one, secrets))]

    assert wrong == []
