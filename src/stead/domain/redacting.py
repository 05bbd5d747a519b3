"""An event without certain words: every text in it is cleaned, and what holds it together stays.

Layer: domain. Which strings are texts follows from their types: ids, marks and choices have types of their own. A few
plain strings hold the record together as well; where one of these has the words, they stay, and the caller is informed.
A digest of a text is one of its new words afterwards: who has it and the rest could try what stood there.
"""

from __future__ import annotations

import functools
import hashlib
import types
from collections.abc import Callable, Collection
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from stead.domain import events as ev
from stead.domain.forgetting import FORGOTTEN
from stead.domain.memory_events import ForgetReceipt, LoadedFile
from stead.domain.messages import Thinking

KEPT = frozenset(
    {
        "by",
        "directory",
        "door",
        "driver",
        "kind",
        "model",
        "placeholder",
        "provider",
        "root",
        "rule",
        "tool",
        "tools",
    }
)
"""Fields of plain strings that are names to Stead itself."""

MARKS = frozenset({"commitment", "content", "fingerprints", "prefix_sha256", "ref", "sha256", "signature"})
"""Fields of digests and references. Where letters or figures of one look like words, that is by chance."""

NUMBERED = (ev.RuleRemoved, ev.TerminalOpened, ev.LineRan, ev.TerminalClosed, ev.QuarantineSettled)
"""Events whose ``id`` is Stead's own number for something."""

Clean = Callable[[str], str]
T = TypeVar("T", bound=msgspec.Struct)


def redacted(body: ev.Body, clean: Clean, forgotten: Collection[str] = ()) -> ev.Body:
    """The same event with clean texts.

    Args:
        body: as it was recorded.
        clean: gives a text without the words.
        forgotten: references of memories that are forgotten; where they were recalled, their whole text goes.
    """
    if isinstance(body, ev.BindingFact):
        return body
    if isinstance(body, ev.MemoryRecalled):
        kept = tuple(msgspec.structs.replace(one, text=FORGOTTEN) if one.ref in forgotten else one for one in body.told)
        body = msgspec.structs.replace(body, told=kept)
    return _cleaned(_narrowed(body, clean), clean)


def _narrowed(body: ev.Body, clean: Clean) -> ev.Body:
    """Without permissions whose text has forgotten words: redacted, two of them would be the same."""
    match body:
        case ev.SourcesTrusted(sources=sources) | ev.GrantMade(sources=sources):
            return msgspec.structs.replace(body, sources=tuple(one for one in sources if clean(one) == one))
        case ev.PlanMade(calls=calls):
            return msgspec.structs.replace(body, calls=tuple(call for call in calls if _cleaned(call, clean) == call))
        case _:
            return body


def has(body: ev.Body, touches: Callable[[str], object]) -> bool:
    """Whether an event says something, in a text or in a name; what looks like it in its marks and numbers is none."""
    return any(map(touches, texts(body))) or any(map(touches, names(body)))


def unchained(body: ev.ModelRequested) -> ev.ModelRequested:
    """A request without the digest of those before it, in which words were that are gone; nothing reads it again."""
    return msgspec.structs.replace(body, prefix_sha256="")


def names(body: ev.Body) -> tuple[str, ...]:
    """Every string of an event that is a name, in order."""
    found: list[str] = []

    def collect(name: str) -> str:
        found.append(name)
        return name

    _cleaned(body, lambda text: text, collect)
    return tuple(found)


def blank(text: str) -> str:
    """Cleans a text of all its words."""
    return FORGOTTEN if text.strip() else text


def texts(body: ev.Body) -> tuple[str, ...]:
    """Every text of an event, in order."""
    found: list[str] = []

    def collect(text: str) -> str:
        found.append(text)
        return text

    _cleaned(body, collect)
    return tuple(found)


def _cleaned(struct: T, clean: Clean, name: Clean = str) -> T:
    """With clean texts; ``name`` is handed the names, and gives them back as they are."""
    changed: dict[str, Any] = {}
    for field, hint in _hints(type(struct)).items():
        if field in MARKS or (field == "id" and isinstance(struct, NUMBERED)):
            continue
        each = (name, name) if field in KEPT else (clean, name)
        old = getattr(struct, field)
        new = _walked(old, hint, *each)
        if new != old:
            changed[field] = new
    if changed:
        changed |= _unsealed(struct, changed)
    return msgspec.structs.replace(struct, **changed) if changed else struct


def _unsealed(struct: object, changed: dict[str, Any]) -> dict[str, Any]:
    """What a struct's digests and seals are once it says something else."""
    match struct:
        case Thinking():
            return {"signature": "", "provider": ""}  # it was sealed as it was; nobody takes it otherwise
        case ForgetReceipt():
            return {"signature": ""}
        case LoadedFile() | ev.RulesFile() if "text" in changed:
            return {"sha256": hashlib.sha256(changed["text"].encode()).hexdigest()}
        case _:
            return {}


def _walked(value: Any, hint: Any, clean: Clean, name: Clean) -> Any:
    match value:
        case str():
            return clean(value) if _is_text(hint) else value
        case msgspec.Struct():
            return _cleaned(value, clean, name)
        case tuple() | list():
            kinds = get_args(_of(hint, (tuple, list))) or (str,)
            each = [kinds[0]] * len(value) if kinds[-1] is Ellipsis or len(kinds) == 1 else kinds
            return type(value)(_walked(item, kind, clean, name) for item, kind in zip(value, each, strict=True))
        case dict():
            keys, values = get_args(_of(hint, (dict,))) or (str, str)
            walked = (
                (_walked(key, keys, clean, name), _walked(item, values, clean, name)) for key, item in value.items()
            )
            return dict(walked)
        case _:
            return value


def _is_text(hint: Any) -> bool:
    """Whether a string of this type is one that a person, model or tool wrote."""
    return hint is str or any(_is_text(one) for one in _choices(hint))


def _of(hint: Any, kinds: tuple[type, ...]) -> Any:
    """The one of a type's choices that is a container."""
    return next((one for one in (_choices(hint) or (hint,)) if get_origin(one) in kinds), None)


def _choices(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else ()


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
