"""The person's directives: how they change, what they were, and what a session would be told of them.

Layer: runtime. Everything that can be refused is refused before anything is written. Older versions are not kept in
memory: the home's stream has them, and is read for them in a thread.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

import msgspec

from stead.brain.directives import could_be_rules, prompt, tokens
from stead.domain import directive_commands as cmd
from stead.domain import directives as dom
from stead.domain import events as ev
from stead.domain.directive_commands import DirectiveCommand
from stead.domain.directives import (
    Directive,
    DirectiveId,
    DirectiveRow,
    Directives,
    DirectiveVersion,
    Kept,
    Prompt,
)
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.ids import HOME
from stead.domain.policies import Rule
from stead.domain.ports import Journal
from stead.runtime.folder import folder
from stead.runtime.home import HomeState

_WHY_CHARS = 500
_CONTEXT_LINES = 3
DirectiveFact = ev.DirectiveSet | ev.DirectiveRemoved | ev.DirectivesOrdered


@dataclass(frozen=True)
class DirectiveRoom:
    """What the person tells models always: asked, and changed.

    A method raises ``NotFound`` for a directive that there is not.

    Args:
        state: what the home's stream adds up to now.
        journal: has their versions.
        new_id: see ``Deps``.
    """

    state: Callable[[], HomeState]
    journal: Journal
    new_id: Callable[[str], str]

    # -- changing ---------------------------------------------------------------------------------------------------

    async def change(self, command: DirectiveCommand, door: str) -> DirectiveFact:
        """The fact that a command makes. Whoever calls this lets no other command come between it and its recording.

        Raises:
            InvalidRequest: a title, text, folder or order that cannot be, or too much of them.
            NotFound: there is no such directive or version.
            Conflict: it changed meanwhile, or there is a soul already.
        """
        now = self._now
        match command:
            case cmd.SetDirective():
                return ev.DirectiveSet(await self._written(command), door, _note(command.why))
            case cmd.SwitchDirective(id=id, enabled=enabled):
                before = _known(now, id)
                after = msgspec.structs.replace(before, enabled=enabled, version=before.version + 1)
                return ev.DirectiveSet(_allowed(now, after), door, "")
            case cmd.RemoveDirective(id=id):
                return ev.DirectiveRemoved(_known(now, id).id, door)
            case cmd.OrderDirectives(ids=ids):
                if not ids or len(set(ids)) != len(ids):
                    raise InvalidRequest("an order names one directive or more, each once")
                return ev.DirectivesOrdered(tuple(_known(now, id).id for id in ids), door)
            case cmd.RestoreDirective(id=id, version=version):
                return ev.DirectiveSet(await self._restored(id, version), door, f"restored from version {version}")
            case _:
                assert_never(command)

    async def _written(self, command: cmd.SetDirective) -> Directive:
        now = self._now
        title, text = " ".join(command.title.split()), command.text.replace("\r\n", "\n").strip()
        _require_fits(title, text)
        before = _known(now, DirectiveId(command.id)) if command.id else None
        if before is not None and command.version not in (0, before.version):
            raise Conflict(
                f"{before.title!r} has changed since version {command.version}: it is at {before.version}; "
                "look at it, and write yours anew"
            )
        same = [one.directive for one in now.in_order() if one.directive.title.casefold() == title.casefold()]
        if same and before not in same:
            raise Conflict(
                f"there is a directive {title!r} already, {same[0].id}; change that one, or take another title"
            )
        directory = command.directory
        if directory and (before is None or before.directory != directory):
            directory = await asyncio.to_thread(folder, directory)
        return _allowed(
            now,
            Directive(
                id=before.id if before else DirectiveId(self.new_id("d")),
                kind=command.kind,
                title=title,
                text=text,
                enabled=command.enabled,
                order=before.order if before else _last(now) + 1,
                directory=directory,
                version=before.version + 1 if before else 1,
            ),
        )

    async def _restored(self, id: DirectiveId, version: int) -> Directive:
        now = self._now
        found = [one.directive for one in await asyncio.to_thread(self._all_versions, id)]
        then = next((one for one in found if one.version == version), None)
        if then is None:
            raise NotFound(f"there is no version {version} of {id!r}; see `stead directives versions {id}`")
        kept = now.kept.get(id)
        order = kept.directive.order if kept else now.left.get(id, then.order)
        return _allowed(now, msgspec.structs.replace(then, version=found[-1].version + 1, order=order))

    # -- looking ----------------------------------------------------------------------------------------------------

    async def rows(self) -> tuple[DirectiveRow, ...]:
        """The directives, in the order in which models read those that are on."""
        return await asyncio.to_thread(lambda: tuple(map(_row, self._now.in_order())))

    async def offers(self, id: DirectiveId) -> tuple[Rule, ...]:
        """The sentences of a directive of behavioural rules that could be standing rules, and are none yet."""
        return await asyncio.to_thread(could_be_rules, _known(self._now, id), self.state().rules)

    async def versions(self, id: DirectiveId, *, before: int, limit: int) -> tuple[DirectiveVersion, ...]:
        """What a directive was, also one that was removed; newest first, those below ``before`` (0 for all)."""
        found = await asyncio.to_thread(self._all_versions, id)
        if not found:
            raise _unknown(id)
        until = next((at for at, one in enumerate(found) if before and one.directive.version >= before), len(found))
        since = max(0, until - limit)
        return await asyncio.to_thread(lambda: tuple(_compared(found[max(0, since - 1) : until], since > 0)))

    async def difference(self, id: DirectiveId, old: int, new: int) -> DirectiveVersion:
        """The newer of two versions, with what differs from the older one."""
        found = {one.directive.version: one for one in await asyncio.to_thread(self._all_versions, id)}
        for version in (old, new):
            if version not in found:
                raise NotFound(f"there is no version {version} of {id!r}; see `stead directives versions {id}`")
        return await asyncio.to_thread(_against, found[old].directive, found[new])

    async def prompt(self, directory: str, *, interactive: bool, draft: Directive | None) -> Prompt:
        """What a session or an objective of a folder would be given before all else, part by part.

        Args:
            directory: the folder; "" for one without directives of its own.
            interactive: whether a person works in it, turn by turn.
            draft: a directive as it might be; its order does not count.
        """
        now = self._now
        if draft is not None:
            _require_fits(" ".join(draft.title.split()), draft.text.strip())
            kept = now.kept.get(draft.id)
            order = kept.directive.order if kept else _last(now) + 1
            now = now.with_one(msgspec.structs.replace(draft, order=order), 0, "")
        return await asyncio.to_thread(prompt, now, directory, interactive=interactive)

    @property
    def _now(self) -> Directives:
        return self.state().directives

    def _all_versions(self, id: DirectiveId) -> list[DirectiveVersion]:
        """Oldest first, not compared with each other yet."""
        return [
            DirectiveVersion(event.body.directive, event.ts_ms, event.body.door, event.body.why, 0, 0, "")
            for event in self.journal.events(session=HOME)
            if isinstance(event, ev.Event) and isinstance(event.body, ev.DirectiveSet)
            if event.body.directive.id == id
        ]


def _require_fits(title: str, text: str) -> None:
    if not 0 < len(title) <= dom.TITLE_CHARS:
        raise InvalidRequest(f"a directive has a title of 1 to {dom.TITLE_CHARS} characters")
    if not 0 < len(text) <= dom.TEXT_CHARS:
        raise InvalidRequest(
            f"a directive has 1 to {dom.TEXT_CHARS} characters of text, not {len(text)}; "
            "put long material into a file of the folder"
        )


def _known(now: Directives, id: DirectiveId) -> Directive:
    kept = now.kept.get(id)
    if kept is None:
        raise _unknown(id)
    return kept.directive


def _unknown(id: str) -> NotFound:
    return NotFound(f"there is no directive {id[:80]!r}; see `stead directives`")


def _note(why: str) -> str:
    note = " ".join(why.split())
    if len(note) > _WHY_CHARS:
        raise InvalidRequest(f"a note on a change has up to {_WHY_CHARS} characters")
    return note


def _last(now: Directives) -> int:
    return max((kept.directive.order for kept in now.kept.values()), default=-1)


def _allowed(now: Directives, new: Directive) -> Directive:
    """The same directive, if the home has room for it."""
    others = [kept.directive for id, kept in now.kept.items() if id != new.id]
    if len(others) >= dom.MOST:
        raise InvalidRequest(f"there are {dom.MOST} directives, the most there can be; remove what is not used")
    if sum(len(one.text) for one in others) + len(new.text) > dom.KEPT_CHARS:
        raise InvalidRequest(
            f"all directives together would have more than {dom.KEPT_CHARS} characters; remove what is not used"
        )
    soul = next((one for one in others if one.kind == "soul" and one.directory == new.directory), None)
    if new.kind == "soul" and soul is not None:
        raise Conflict(f"there is a soul already, {soul.id} ({soul.title!r}); change that one")
    if new.enabled:
        _require_short(others, new)
    return new


def _require_short(others: Iterable[Directive], new: Directive) -> None:
    """No session is told more than it can be; what holds everywhere counts in each folder that has more."""
    chars: dict[str, int] = {"": 0, new.directory: 0}
    for one in (*others, new):
        if one.enabled:
            chars[one.directory] = chars.get(one.directory, 0) + len(one.title) + len(one.text)
    folders = [new.directory] if new.directory else list(chars)
    most = max(chars[""] + (chars[name] if name else 0) for name in folders)
    if most > dom.IN_FORCE_CHARS:
        raise InvalidRequest(
            f"the directives that are on would have {most} characters together, and {dom.IN_FORCE_CHARS} is the most "
            "that every request carries; switch one off, or make them shorter"
        )


def _row(kept: Kept) -> DirectiveRow:
    return DirectiveRow(kept.directive, kept.changed_ms, kept.door, tokens(kept.directive))


def _compared(found: list[DirectiveVersion], skip_first: bool) -> Iterator[DirectiveVersion]:
    """Newest first, each against the one before it."""
    for at in range(len(found) - 1, 0, -1):
        yield _against(found[at - 1].directive, found[at])
    if not skip_first and found:
        yield _against(None, found[0])


def _against(old: Directive | None, new: DirectiveVersion) -> DirectiveVersion:
    before = old.text.split("\n") if old else []
    lines = list(difflib.unified_diff(before, new.directive.text.split("\n"), n=_CONTEXT_LINES, lineterm=""))[2:]
    return msgspec.structs.replace(
        new,
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
        diff="\n".join(lines),
    )
