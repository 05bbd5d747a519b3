"""What models, tools and people say, without the values that must not leave.

Layer: runtime. Two wrappers, put around every model and every tool by the composition root, so that nothing that they
say reaches the journal, a watcher or the next prompt before it was cleaned; and the same for a person's commands. A
tool's output is also searched for what looks like a secret by its form. A model's words and a person's are not: what
they write may be an example that the work is about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from stead.domain import commands as cmd
from stead.domain.errors import FetchFault, MachineError, ModelFault
from stead.domain.events import ModelRef
from stead.domain.messages import ReplyPart, Text, Thinking, ToolCall
from stead.domain.permits import Permit
from stead.domain.ports import ModelInfo, ModelRequest, Models, Reply
from stead.domain.tools import Tool, ToolContext, ToolOutcome, ToolSpec
from stead.runtime.secrets import SecretBook


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

    def default_chain(self) -> tuple[ModelRef, ...]:
        """See ``Models``."""
        return self._models.default_chain()

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Reply:
        """See ``Models``."""
        told = _Stream(self._book, on_text, detect=False)
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

    @property
    def spec(self) -> ToolSpec:
        """See ``Tool``."""
        return self._tool.spec

    def parse(self, arguments: str) -> Mapping[str, object]:
        """See ``Tool``."""
        return self._tool.parse(arguments)

    async def run(self, permit: Permit, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """See ``Tool``; the text of an outcome, of an error and of all progress is cleaned."""
        told = _Stream(self._book, context.progress, detect=True)
        context = msgspec.structs.replace(context, progress=told.feed, release=self._book)
        try:
            outcome = await self._tool.run(permit, arguments, context)
        except (MachineError, FetchFault) as fault:
            fault.args = (self._book.redactor().clean(str(fault)),)
            raise
        finally:
            told.close()
        asked = outcome.question
        if asked is not None:  # a provider reads it as it reads a result
            asked = msgspec.structs.replace(asked, text=self._book.redactor().clean(asked.text))
        rest = msgspec.structs.replace(outcome, text="", question=None)
        if rest.facts or rest.entities:
            rest = msgspec.convert(self._book.words().clean_json(msgspec.to_builtins(rest)), ToolOutcome)
        return msgspec.structs.replace(rest, text=self._book.redactor().clean(outcome.text), question=asked)


class _Stream:
    """Pieces of text on their way to whoever watches; a value that comes in two pieces is found too."""

    def __init__(self, book: SecretBook, tell: Callable[[str], None], *, detect: bool) -> None:
        self._tell = tell
        self._cleaning = book.redactor(detect=detect).stream()

    def feed(self, text: str) -> None:
        self._pass_on(self._cleaning.feed(text))

    def close(self) -> None:
        self._pass_on(self._cleaning.close())

    def _pass_on(self, text: str) -> None:
        if text:
            self._tell(text)


def _part(part: ReplyPart, clean: Callable[[str], str]) -> ReplyPart:
    match part:
        case Text(text=text) | Thinking(text=text):
            return msgspec.structs.replace(part, text=clean(text))
        case ToolCall(arguments=arguments):
            return msgspec.structs.replace(part, arguments=clean(arguments))


def screened(command: cmd.Command, book: SecretBook) -> tuple[cmd.Command, str]:
    """A command whose words hold no value that the vault knows, and what the person is to be told of it.

    A pasted value becomes its placeholder. What only looks like a secret stays, because the words are the person's own,
    and they are warned.
    """
    replace = msgspec.structs.replace
    words = book.words().clean
    match command:
        case cmd.CreateObjective(goal=goal, title=title, constraints=constraints):
            cleaned: cmd.Command = replace(
                command, goal=words(goal), title=words(title), constraints=tuple(map(words, constraints))
            )
            said = "\n".join((goal, title, *constraints))
        case cmd.SendMessage(text=said):
            cleaned = replace(command, text=words(said))
        case cmd.Decide(reason=said):
            cleaned = replace(command, reason=words(said))
        case cmd.Stop(why=said):
            cleaned = replace(command, why=words(said))
        case _:
            return command, ""
    known = words(said)
    if known != said:
        return cleaned, "a value of the vault stood in your words; the model reads its placeholder instead"
    if book.redactor().clean(said) != said:
        return cleaned, "your words hold what looks like a secret, and the model reads it; see: stead secret add"
    return cleaned, ""
