"""Conversations with questions about them, and the turns that answer each question.

The data are not ours to give away, so they are always named on the command line or in the environment:
``STEAD_BENCH_DATA`` is a folder with ``memory/locomo-dev.json``, or any file of the same form::

    [{"conv", "mems": [{"id", "text", "who", "session", "date", "pos"}], "qs": [{"qid", "text", "cat", "ev": [id]}]}]

A folder of BEAM is read as it is published: ``chats/100K/N/`` with ``chat.json`` and ``probing_questions.json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

APART = "adversarial"
"""Questions of this category are no part of the total: they have no answer, and only the turn that they twist."""
_BEAM_CHARS = 1_500
_FORMS = ("%I:%M %p on %d %B, %Y", "%B-%d-%Y", "%Y-%m-%d", "%d %B %Y", "%B %d, %Y")


class Note(msgspec.Struct, frozen=True):
    """One turn."""

    id: str
    text: str
    who: str
    session: str
    date: str


class Question(msgspec.Struct, frozen=True):
    """One question, and the ids of the turns that answer it."""

    id: str
    text: str
    category: str
    evidence: tuple[str, ...]


class Conversation(msgspec.Struct, frozen=True):
    """Turns in their order, and questions about them."""

    name: str
    notes: tuple[Note, ...]
    questions: tuple[Question, ...]


def conversations(path: Path) -> list[Conversation]:
    """Read a file of the neutral form, or a folder of BEAM."""
    if path.is_dir():
        return list(_beam(path))
    return [_neutral(one) for one in json.loads(path.read_text("utf-8"))]


def as_chats(conversation: Conversation) -> Conversation:
    """The same conversation as if one of the two had told it to an assistant: names in the text, user and assistant."""
    speakers = sorted({note.who for note in conversation.notes})
    role = {who: "assistant" if who == speakers[-1] else "user" for who in speakers}
    notes = (replace(note, text=f"{note.who}: {note.text}", who=role[note.who]) for note in conversation.notes)
    return replace(conversation, notes=tuple(notes))


def moment_ms(date: str) -> int | None:
    """When a date is, milliseconds since 1970; nothing when it cannot be read."""
    for form in _FORMS:
        try:
            return int(datetime.strptime(date.strip(), form).replace(tzinfo=UTC).timestamp() * 1000)
        except ValueError:
            continue
    return None


def _neutral(one: dict[str, Any]) -> Conversation:
    notes = tuple(
        Note(note["id"], note["text"], note["who"], str(note["session"]), note.get("date") or "")
        for note in one["mems"]
    )
    questions = tuple(Question(str(q["qid"]), q["text"], q["cat"], tuple(q["ev"])) for q in one["qs"])
    return Conversation(one["conv"], notes, questions)


def _beam(folder: Path) -> Iterator[Conversation]:
    chats = sorted(folder.glob("**/chat.json"), key=lambda path: (len(path.parent.name), path.parent.name))
    if not chats:
        raise SystemExit(f"no chat.json is anywhere in {str(folder)!r}; name BEAM's folder, as chats/100K")
    for path in chats:
        notes, names = [], {}
        for batch in json.loads(path.read_text("utf-8")):
            for turn in batch["turns"]:
                date = next((message["time_anchor"] for message in turn if message.get("time_anchor")), "")
                for message in turn:
                    names[message["id"]] = name = f"{path.parent.name}:{message['id']}"
                    text = re.sub(r"\s*->->.*$", "", message["content"], flags=re.DOTALL)[:_BEAM_CHARS]
                    notes.append(Note(name, text, message["role"], f"b{batch['batch_number']}", date))
        asked = json.loads((path.parent / "probing_questions.json").read_text("utf-8"))
        questions = []
        for category, some in asked.items():
            for number, one in enumerate(some):
                sources = dict.fromkeys(names[id] for id in _ids(one.get("source_chat_ids", [])) if id in names)
                if sources:  # abstention has none
                    questions.append(Question(f"{category}-{number}", one["question"], category, tuple(sources)))
        yield Conversation(f"beam-{path.parent.name}", tuple(notes), tuple(questions))


def _ids(value: object) -> Iterator[int]:
    """The numbers in whatever shape they were written down."""
    if isinstance(value, int):
        yield value
    elif isinstance(value, str):
        yield from map(int, re.findall(r"\d+", value))
    elif isinstance(value, dict):
        yield from _ids(list(value.values()))
    elif isinstance(value, list):
        for one in value:
            yield from _ids(one)
