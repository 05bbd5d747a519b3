"""Old events always load: each type keeps one recorded form per version, for ever."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from stead.domain.errors import StorageFault
from stead.domain.events import Contract, SessionOpened, SessionPaused
from stead.storage import codec
from stead.storage.codec import CURRENT, UPCASTS, decode, encode, successor

GOLDEN = Path(__file__).parent.parent / "events"
RECORDED = sorted(GOLDEN.glob("v*/*.json"))


def _version(path: Path) -> int:
    return int(path.parent.name.removeprefix("v"))


def _still_says(written: object, recorded: object) -> bool:
    """Whether everything recorded is written back as it was; fields that came later stand beside it."""
    if isinstance(written, dict) and isinstance(recorded, dict):
        return all(name in written and _still_says(written[name], value) for name, value in recorded.items())
    if isinstance(written, list) and isinstance(recorded, list):
        return len(written) == len(recorded) and all(map(_still_says, written, recorded))
    return written == recorded


def test_every_type_has_a_recorded_form_of_each_of_its_versions() -> None:
    wanted = {f"v{version}/{tag}.json" for tag, newest in CURRENT.items() for version in range(1, newest + 1)}
    wanted |= {f"v{version}/{tag}.json" for tag, version in UPCASTS}
    assert {path.relative_to(GOLDEN).as_posix() for path in RECORDED} == wanted


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_recorded_event_loads_and_its_current_form_is_written_back_the_same(path: Path) -> None:
    body = decode(path.stem, _version(path), path.read_bytes())
    tag, version, payload = encode(body)
    assert tag == successor(path.stem)
    if _version(path) == version:
        assert _still_says(msgspec.json.decode(payload), msgspec.json.decode(path.read_bytes()))


@pytest.mark.parametrize("tag", ["objective.created", "session.opened"])
@pytest.mark.parametrize(
    ("said", "is_now"), [("default", "ask"), ("trusted-project", "work"), ("readonly", "readonly")]
)
def test_a_session_of_before_keeps_the_strictness_that_its_person_chose(tag: str, said: str, is_now: str) -> None:
    plain = msgspec.json.decode((GOLDEN / "v1" / f"{tag}.json").read_bytes())
    opened = decode(tag, 1, msgspec.json.encode({**plain, "profile": said, "unprotected": ["AGENTS.md"]}))
    assert isinstance(opened, SessionOpened)
    assert opened.profile == is_now
    assert decode(*encode(opened)) == opened


@pytest.mark.parametrize("version", [1, 2])
def test_an_objective_of_before_is_a_session_with_a_contract(version: int) -> None:
    opened = decode("objective.created", version, (GOLDEN / f"v{version}/objective.created.json").read_bytes())
    goal = "Read notes.md and write SUMMARY.md with its headings"
    assert isinstance(opened, SessionOpened)
    assert opened.contract == Contract(goal)
    assert (opened.title, opened.constraints, opened.interactive) == (
        "Summarise the notes",
        ("Keep it under 200 words",),
        False,
    )
    interactive = decode("session.opened", version, (GOLDEN / f"v{version}/session.opened.json").read_bytes())
    assert isinstance(interactive, SessionOpened) and interactive.interactive


def test_what_is_read_in_place_of_an_objectives_first_event_has_the_newest_form() -> None:
    opened = decode("objective.created", 2, (GOLDEN / "v2/objective.created.json").read_bytes())
    _, version, payload = encode(opened)
    assert decode("objective.created", version, payload) == opened


def test_an_older_version_is_raised_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(codec.CURRENT, "session.paused", 3)
    monkeypatch.setitem(
        codec.UPCASTS, ("session.paused", 1), lambda old: {"type": old["type"], "because": old["reason"]}
    )
    monkeypatch.setitem(codec.UPCASTS, ("session.paused", 2), lambda old: {"type": old["type"], "why": old["because"]})
    assert decode("session.paused", 1, b'{"type":"session.paused","reason":"tea"}') == SessionPaused("tea")
    assert decode("session.paused", 2, b'{"type":"session.paused","because":"tea"}') == SessionPaused("tea")
    assert decode("session.paused", 3, b'{"type":"session.paused","why":"tea"}') == SessionPaused("tea")


@pytest.mark.parametrize(
    ("tag", "version", "payload"),
    [
        ("session.paused", 9, b'{"type":"session.paused","why":"tea"}'),
        ("session.dreamt", 1, b'{"type":"session.dreamt"}'),
        ("session.paused", 1, b'{"type":"session.paused"}'),
        ("session.paused", 1, b'{"type":"session.pau'),
        ("session.paused", 1, b"\xff\xfe"),
    ],
)
def test_an_event_that_cannot_be_read_says_so(tag: str, version: int, payload: bytes) -> None:
    with pytest.raises(StorageFault, match=tag):
        decode(tag, version, payload)
