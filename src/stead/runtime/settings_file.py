"""Having a home be as a document says: what would change, whether it can be, and the commands that do it.

Layer: runtime. Nothing is set here. A document is turned into the commands that a person would give; before the first
one is carried out, each is put to the code that would refuse it, upon a state in which those before it have happened.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain import settings_file as doc
from stead.domain.directive_commands import OrderDirectives
from stead.domain.errors import Conflict, InvalidRequest, SteadError
from stead.domain.ids import HOME, NO_COMMAND, CommandId
from stead.domain.ports import Claimed
from stead.domain.settings_file import ApplySettings, ExportedSettings, SettingChange, SettingProblem, SettingsPlan
from stead.runtime.home import HomeState, fold
from stead.runtime.settings_sections import SECTIONS, Section, directive_ids, items_of, settings_of, title_key

_PASSES = 3
Facts = Callable[[cmd.Command, HomeState], Awaitable[tuple[ev.Body, ...]]]
"""The facts that a command would make of a state; nothing happens by it. Raises what the command would."""
Handle = Callable[[cmd.Command, CommandId, str], Awaitable[cmd.Answer]]


@dataclass
class _Draft:
    """A plan while it is made.

    Args:
        now: the state as it is.
        state: after all that is planned.
        items: of the section that is looked at, as they are, by their keys.
    """

    now: HomeState
    state: HomeState
    items: dict[str, Any] = field(default_factory=dict)
    changes: list[SettingChange] = field(default_factory=list)
    problems: list[SettingProblem] = field(default_factory=list)
    commands: list[cmd.Command] = field(default_factory=list)


class SettingsRoom:
    """Reads and applies documents of settings.

    Args:
        state: what the home's stream adds up to now.
        facts: what a command would make of a state.
        handle: carries out a command, once for its id.
        clean: takes values that the vault knows out of a text.
    """

    def __init__(
        self, state: Callable[[], HomeState], facts: Facts, handle: Handle, clean: Callable[[str], str]
    ) -> None:
        self._state = state
        self._facts = facts
        self._handle = handle
        self._clean = clean

    async def export(self) -> ExportedSettings:
        """What the home has set."""
        return settings_of(self._state())

    async def plan(self, settings: doc.HomeSettings, prune: bool = False) -> SettingsPlan:
        """What a document would change, and what of it cannot be; nothing happens."""
        draft = await self._draft(settings, prune=prune)
        return SettingsPlan(tuple(draft.changes), tuple(draft.problems))

    async def carry_out(self, command: ApplySettings, claim: Claimed, door: str) -> cmd.Answer:
        """Have the home be as the document says.

        Raises:
            InvalidRequest: something of it cannot be; then nothing was changed.
            Conflict: something else changes the same settings meanwhile.
            StorageFault: what was carried out so far stays, and the same again completes it.
        """
        changed, seq, left = 0, self._state().seq, ""
        for _ in range(_PASSES):
            draft = await self._draft(command.settings, prune=command.prune)
            if draft.problems:
                said = "; ".join(f"{one.section} {one.index + 1}: {one.text}" for one in draft.problems[:10])
                raise InvalidRequest(f"nothing was changed by this pass: {said}")
            if not draft.changes:
                text = f"{changed} settings changed" if changed else "nothing to change"
                return msgspec.structs.replace(claim.answer, seq=seq, text=text)
            changed += len(draft.changes)
            left = ", ".join(f"{one.section} {one.name}".strip() for one in draft.changes[:5])
            for one in draft.commands:
                mark = hashlib.sha256(msgspec.json.encode(one)).hexdigest()[:24]
                seq = (await self._handle(one, CommandId(f"{claim.id}/{mark}"), door)).seq
        raise Conflict(f"the settings are changed by something else meanwhile ({left}); apply the file again")

    async def _draft(self, settings: doc.HomeSettings, *, prune: bool) -> _Draft:
        if (count := sum(len(items_of(settings, section)) for section in SECTIONS)) > doc.MOST_ITEMS:
            raise InvalidRequest(f"a document has at most {doc.MOST_ITEMS:,} items, not {count:,}")
        draft = _Draft(self._state(), self._state())
        wanted: dict[str, set[str]] = {}
        for section in SECTIONS:
            wanted[section.name] = await self._add(draft, section, items_of(settings, section))
        for section in reversed(SECTIONS if prune and not draft.problems else ()):
            gone = [one for one in section.of(draft.now) if section.key(one) not in wanted[section.name]]
            for item in reversed(gone):
                await self._change(draft, section, -1, item, None, section.unset(item, draft.now))
        await self._order(draft, settings)
        return draft

    async def _add(self, draft: _Draft, section: Section, items: Any) -> set[str]:
        """Plan what a section of the document wants; gives the keys of its items."""
        now = draft.items = {section.key(item): item for item in section.of(draft.now)}
        keys: set[str] = set()
        for index, item in enumerate(items):
            key = section.key(item)
            if now.get(key) == item:
                keys.add(key)
                continue
            try:
                self._require_clean(item)
                commands = section.set(item, now.get(key), draft.state)
            except InvalidRequest as error:
                self._refuse(draft, section, index, error)
                continue
            if not commands:
                keys.add(key)
                continue
            if (key := await self._change(draft, section, index, now.get(key), item, commands)) in keys:
                self._refuse(draft, section, index, InvalidRequest("it is there twice"))
            keys.add(key)
        return keys

    async def _change(self, draft: _Draft, section: Section, index: int, before: Any, after: Any, commands: Any) -> str:
        """Plan a change, unless it changes nothing once it is spelled as it is kept; gives the key as it is kept."""
        state, alone = draft.state, _alone(draft.state, after)
        try:
            for command in commands:
                for fact in await self._facts(command, state):
                    state, alone = _after(state, fact), _after(alone, fact)
        except SteadError as error:
            self._refuse(draft, section, index, error)
            return section.key(before if after is None else after)
        if after is not None:
            after = next(iter(section.of(alone)), after)
            before = draft.items.get(section.key(after))
        if before != after:
            draft.state = state
            draft.changes.append(_shown(section, before, after))
            draft.commands.extend(commands)
        return section.key(before if after is None else after)

    async def _order(self, draft: _Draft, settings: doc.HomeSettings) -> None:
        """Plan the order of the directives. Those that are new have no id yet; the next pass puts them in order."""
        souls_first = sorted(settings.directives, key=lambda one: one.kind != "soul")
        wanted = list(dict.fromkeys(title_key(one.title) for one in souls_first))
        there = directive_ids(draft.state)
        if not set(wanted) <= there.keys() or [title for title in there if title in wanted] == wanted:
            return
        before = {"order": [one.title for one in _titles(draft.now)]}
        draft.changes.append(
            SettingChange("directives", "order", "changed", before, {"order": [one.title for one in souls_first]}, "")
        )
        ids = directive_ids(draft.now)
        if set(wanted) <= ids.keys():
            draft.commands.append(OrderDirectives(tuple(ids[title] for title in wanted)))

    def _refuse(self, draft: _Draft, section: Section, index: int, error: SteadError) -> None:
        draft.problems.append(SettingProblem(section.name, index, self._clean(str(error))))

    def _require_clean(self, item: object) -> None:
        text = msgspec.json.encode(item).decode()
        if self._clean(text) != text:
            raise InvalidRequest("it holds the value of a secret; take it out, and name the secret instead")


def _alone(state: HomeState, item: Any) -> HomeState:
    """A state in which one item's facts show how it is kept: with the names of secrets, and a schedule's own past."""
    bare = {name: msgspec.structs.replace(secret, bindings=()) for name, secret in state.secrets.items()}
    own = {name: one for name, one in state.schedules.items() if name == getattr(item, "name", "")}
    return HomeState(secrets=bare, schedules=own)


def _after(state: HomeState, fact: ev.Body) -> HomeState:
    return fold(state, ev.Event(0, HOME, state.seq, 0, "person", NO_COMMAND, fact))


def _titles(state: HomeState) -> list[Any]:
    return [one.directive for one in state.directives.in_order()]


def _shown(section: Section, before: Any, after: Any) -> SettingChange:
    old, new = _fields(section, before), _fields(section, after)
    if before is not None and after is not None:
        differ = {name for name in (*old, *new) if old.get(name) != new.get(name)}
        old, new = ({name: value for name, value in one.items() if name in differ} for one in (old, new))
    change: Literal["added", "changed", "removed"] = (
        "added" if before is None else "removed" if after is None else "changed"
    )
    name = section.key(before if after is None else after)
    if section.name == "rules":
        name = (after or before).text or (after or before).decision
    elif section.name == "bindings":
        name = (after or before).name
    return SettingChange(section.name, name, change, old, new, section.weakens(before, after))


def _fields(section: Section, item: Any) -> dict[str, Any]:
    found = doc.plain(item)
    return found if isinstance(found, dict) else {section.name: found} if found else {}
