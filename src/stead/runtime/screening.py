"""What models, tools and people say, without what nobody can see and the values that must not leave.

Layer: runtime. Two wrappers, put around every model and every tool by the composition root, so that nothing that they
say reaches the journal, a watcher or the next prompt before it was cleaned; and the same for a person's commands. A
tool's output is also searched for what looks like a secret by its form. A model's words and a person's are not: what
they write may be an example that the work is about.

What comes in is screened first and searched for secrets then, because a hidden character in the middle of a value would
keep it from being found, and taking it out would put the value together again. Only the vault's own values are also
looked for before that: one of them may itself have a character that the screening takes out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import msgspec

from stead.domain import commands as cmd
from stead.domain.directive_commands import SetDirective
from stead.domain.errors import FetchFault, MachineError, ModelFault
from stead.domain.events import ModelRef
from stead.domain.external_agents import AskLeave, Leave, Wanted
from stead.domain.ids import SessionId
from stead.domain.messages import Material, ReplyPart, Text, Thinking, ToolCall
from stead.domain.permits import Permit
from stead.domain.policies import Reason
from stead.domain.ports import ModelInfo, ModelRequest, Models, Reply
from stead.domain.providers import Role
from stead.domain.schedules import SetSchedule
from stead.domain.tools import Tool, ToolContext, ToolOutcome, ToolSpec
from stead.domain.trials import Landing
from stead.runtime.secrets import SecretBook
from stead.screen.inbound import Screened, screen
from stead.screen.visible import unnoticed


class ScreenedModels:
    """Implements ``Models``.

    Args:
        models: the real ones.
        book: what is to be kept out.
    """

    def __init__(self, models: Models, book: SecretBook) -> None:
        self._models = models
        self._book = book

    def info(self, ref: ModelRef) -> ModelInfo:
        """See ``Models``."""
        return self._models.info(ref)

    def role(self, role: Role) -> tuple[ModelRef, ...]:
        """See ``Models``."""
        return self._models.role(role)

    async def prepare(self, chain: Sequence[ModelRef]) -> None:
        """See ``Models``."""
        await self._models.prepare(chain)

    def default_chain(self) -> tuple[ModelRef, ...]:
        """See ``Models``."""
        return self._models.default_chain()

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Reply:
        """See ``Models``."""
        told = ScreenedStream(self._book, on_text, detect=False)
        try:
            reply = await self._models.reply(request, told.feed)
        except ModelFault as fault:
            raise self._cleaned(fault) from fault
        told.close()
        clean = self._book.words().clean
        return msgspec.structs.replace(
            reply,
            parts=tuple(_part(part, clean) for part in reply.parts),
            attempts=tuple(map(self._book.redactor().clean, reply.attempts)),
            repaired=tuple(msgspec.structs.replace(one, original=clean(one.original)) for one in reply.repaired),
        )

    def _cleaned(self, fault: ModelFault) -> ModelFault:
        """What a provider says of a failure may repeat what it was sent, the key included."""
        clean = self._book.redactor().clean
        return ModelFault(
            clean(str(fault)),
            kind=fault.kind,
            retry_after_s=fault.retry_after_s,
            attempts=tuple(map(clean, fault.attempts)),
            charged=fault.charged,
        )


class ScreenedTool:
    """Implements ``Tool``.

    Args:
        tool: the real one.
        book: what is to be kept out.
    """

    def __init__(self, tool: Tool, book: SecretBook) -> None:
        self._tool = tool
        self._book = book
        self._spec = tool.spec

    @property
    def spec(self) -> ToolSpec:
        """See ``Tool``."""
        return self._spec

    def parse(self, arguments: str) -> Mapping[str, object]:
        """See ``Tool``."""
        return self._tool.parse(arguments)

    async def run(self, permit: Permit, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """See ``Tool``; the text of an outcome, of an error and of all progress is screened and cleaned."""
        told = ScreenedStream(self._book, context.progress, detect=True)
        asks = None if context.ask is None else partial(self._ask, context.ask, context.session)
        context = msgspec.structs.replace(context, progress=told.feed, release=self._book, ask=asks)
        try:
            outcome = await self._tool.run(permit, arguments, context)
        except (MachineError, FetchFault) as fault:
            fault.args = (came_in(str(fault), self._book, context.session).text,)
            raise
        finally:
            told.close()
        return self._screened(outcome, context.session)

    async def _ask(self, ask: AskLeave, session: SessionId, wanted: Wanted) -> Leave:
        """What an agent asks leave for, cleaned as a model's call is."""
        clean, title = self._book.redactor().clean, came_in(wanted.title, self._book, session).text
        return await ask(msgspec.structs.replace(wanted, arguments=clean(wanted.arguments), title=title))

    def _screened(self, outcome: ToolOutcome, session: SessionId) -> ToolOutcome:
        replace = msgspec.structs.replace
        seen = came_in(outcome.text, self._book, session)
        asked = outcome.question
        if asked is not None:  # a provider reads it as it reads a result
            asked = replace(asked, text=came_in(asked.text, self._book, session).text)
        named = tuple(replace(entity, name=screen(entity.name).text) for entity in outcome.entities)
        rest = replace(outcome, text="", question=None, entities=named)
        if rest.facts or rest.entities or rest.warnings or rest.landing != Landing():
            rest = msgspec.convert(self._book.words().clean_json(msgspec.to_builtins(rest)), ToolOutcome)
        return replace(rest, text=seen.text, question=asked, warnings=(*rest.warnings, *seen.warnings))


class ScreenedStream:
    """Pieces of text on their way to whoever watches; a value that comes in two pieces is found too.

    Each piece is screened by itself: of an escape sequence that comes in two pieces the harmless rest is seen.
    """

    def __init__(self, book: SecretBook, tell: Callable[[str], None], *, detect: bool) -> None:
        self._tell = tell
        self._cleaning = book.redactor(detect=detect).stream()

    def feed(self, text: str) -> None:
        """Another piece."""
        self._pass_on(self._cleaning.feed(text if _PLAIN.fullmatch(text) else screen(text).text))

    def close(self) -> None:
        """The last of it."""
        self._pass_on(self._cleaning.close())

    def _pass_on(self, text: str) -> None:
        if text:
            self._tell(text)


_PLAIN = re.compile(r"[\t\n -~]*")


def came_in(text: str, book: SecretBook, session: SessionId) -> Screened:
    """What a tool, a channel or anybody but the person said, as it may be recorded; warnings are for the person.

    Args:
        text: as it came; what a file hides has been spelled out by the tool that read it.
        book: what is to be kept out.
        session: whose; a placeholder that it was given, or that stands for a value here, imitates nothing.
    """
    seen = screen(book.words().clean(text), lambda one: book.issued(one, session))
    clean = book.redactor().clean
    return Screened(clean(seen.text), tuple(Reason(found.rule, clean(found.text)) for found in seen.warnings))


def _part(part: ReplyPart, clean: Callable[[str], str]) -> ReplyPart:
    match part:
        case Text(text=text):
            return msgspec.structs.replace(part, text=clean(screen(text).text))
        case Thinking(text=text):  # read by its own provider alone, which may want it back to the byte
            return msgspec.structs.replace(part, text=clean(text))
        case ToolCall(arguments=arguments):
            return msgspec.structs.replace(part, arguments=clean(arguments))


def screened(command: cmd.Command, book: SecretBook) -> tuple[cmd.Command, str]:
    """A command whose words hold no value that the vault knows, and what the person is to be told of it.

    A pasted value becomes its placeholder. What only looks like a secret stays, because the words are the person's own,
    and they are warned; so does what they do not see in their words, or what is not what it looks like.
    """
    if isinstance(command, SetSchedule):
        job = command.schedule.job
        if isinstance(job, cmd.OpenSession):
            opening, note = screened(job, book)
            return SetSchedule(msgspec.structs.replace(command.schedule, job=opening)), note
        return command, ""
    words = book.words().clean
    told = {name: text for name in _WORDS.get(type(command), ()) if (text := getattr(command, name))}
    said = "\n".join(text if isinstance(text, str) else "\n".join(text) for text in told.values())
    known = words(said)
    notes = []
    if known != said:
        notes.append("a value of the vault stood in your words; the model reads its placeholder instead")
    elif book.redactor().clean(said) != said:
        notes.append("your words hold what looks like a secret, and the model reads it; see: stead secret add")
    clean: dict[str, object] = {
        name: words(text) if isinstance(text, str) else tuple(map(words, text)) for name, text in told.items()
    }
    if isinstance(command, cmd.SendMessage | cmd.OpenSession):
        session = command.session if isinstance(command, cmd.SendMessage) else SessionId("")
        handed = ((came_in(one.name, book, session).text, one.text) for one in command.context)
        clean["context"] = tuple(Material(name, came_in(text, book, session).text) for name, text in handed)
    return msgspec.structs.replace(command, **clean), "; ".join((*notes, *unnoticed(known)))


_WORDS: Mapping[type[cmd.Command], tuple[str, ...]] = {
    cmd.OpenSession: ("goal", "title", "constraints"),
    cmd.SendMessage: ("text",),
    cmd.RunLine: ("line",),
    SetDirective: ("title", "text", "why"),
    cmd.Decide: ("reason",),
    cmd.Stop: ("why",),
}
"""What of a command a person wrote freely."""
