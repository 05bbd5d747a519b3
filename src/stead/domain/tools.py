"""What a tool says about itself, and what it gives back.

Layer: domain. The guardian derives its policy from the ``Declaration`` alone; there is no policy written per tool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Literal, Protocol

import msgspec

from stead.domain.agents import Order
from stead.domain.events import PlanMade
from stead.domain.external_agents import AskLeave
from stead.domain.ids import SessionId
from stead.domain.messages import Attachment
from stead.domain.permits import Permit
from stead.domain.policies import Confidentiality, Entity, Integrity, Reason
from stead.domain.readings import Question
from stead.domain.secrets import Release
from stead.domain.trials import Landing


class ToolEffect(StrEnum):
    """What a call does to the world, mildest first."""

    THINK = "think"
    """Changes the session's own notes (the plan) and nothing else."""
    READ = "read"
    """Reads files of the workspace."""
    WRITE = "write"
    """Changes files of the workspace."""
    EXECUTE = "execute"
    """Runs a program in the machine."""
    FETCH = "fetch"
    """Sends a request off the host; the request itself carries data out."""
    SEND = "send"
    """Acts on the outside world, or destroys what cannot be brought back."""


class Role(StrEnum):
    """The role of an argument that carries authority."""

    RECIPIENT = "recipient"
    """Who is reached."""
    AMOUNT = "amount"
    """How much; compared as a number, however it is written."""
    OWN_ACCOUNT = "own-account"
    """Which of the person's own accounts acts; what a system of record says of it is enough."""


class Declaration(msgspec.Struct, frozen=True):
    """Everything the policy needs to know about a tool. What is left out counts for nothing.

    Args:
        effect: the strongest thing that a call can do.
        path_args: arguments that name files or folders of the workspace; empty for none.
        authority_args: arguments that decide who or what is acted on (recipient, URL, command, path).
        content_args: arguments that carry content to where ``authority_args`` point.
        output_trust: integrity of what comes back.
        sensitivity: confidentiality of what comes back.
        idempotent: running the call twice is the same as once, so that a crash may run it again.
        command_args: arguments that are a shell's command line; their risk is read from them.
        host_args: arguments that list hosts which the call needs to reach.
        identity_args: arguments that name an entity by an id, and the kind of entity; an id says nothing to a person,
            so the guardian looks at what the entity is called.
        url_args: arguments that are URLs of requests; each is checked before the call may run, as ``fetch``'s is.
        service_args: arguments that the tool fills in itself: the host of a service that the person set up. A model
            cannot choose it.
        unplanned: no plan grants a call, whatever it names.
        vouches: what comes back is a system of record's that the person set up, so that a value in it may be a target.
            Nothing that repeats words (memory, history, notes, settings) has it.
        plans: its argument ``calls`` says what is to run unasked later; what names a target is put to the person.
        roles: what arguments that carry authority stand for.
        closed_args: arguments with a fixed list of values: they carry no target, so that a plan's word is enough.
        effects: by argument, the effect of a call where that argument has this value ("" for one that is left out or
            empty); ``effect`` holds for all others.
        stores: names of what a call reads from and writes to. What a tainted session wrote into one stays tainted for
            who reads it.
        local: it acts on this computer alone, though what it does cannot be brought back; nothing leaves.
    """

    effect: ToolEffect
    path_args: tuple[str, ...] = ()
    authority_args: tuple[str, ...] = ()
    content_args: tuple[str, ...] = ()
    output_trust: Integrity = Integrity.UNTRUSTED
    sensitivity: Confidentiality = Confidentiality.PRIVATE
    idempotent: bool = False
    command_args: tuple[str, ...] = ()
    host_args: tuple[str, ...] = ()
    identity_args: Mapping[str, str] = {}
    url_args: tuple[str, ...] = ()
    service_args: tuple[str, ...] = ()
    unplanned: bool = False
    vouches: bool = False
    plans: bool = False
    roles: Mapping[str, Role] = {}
    closed_args: tuple[str, ...] = ()
    effects: Mapping[str, Mapping[str, ToolEffect]] = {}
    stores: tuple[str, ...] = ()
    local: bool = False


def acting(declaration: Declaration, arguments: Mapping[str, object]) -> Declaration:
    """The declaration with the effect that a call with these arguments has."""
    for name, effects in declaration.effects.items():
        effect = effects.get(str(arguments.get(name) or "").casefold())
        if effect is not None:
            return msgspec.structs.replace(declaration, effect=effect)
    return declaration


def side_by_side(declaration: Declaration) -> bool:
    """Whether calls may run at the same time as others that only read too."""
    return declaration.idempotent and declaration.effect in (ToolEffect.READ, ToolEffect.FETCH)


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as a model and the guardian see it.

    Args:
        name: ``[a-z_]{1,64}``, unique.
        description: one terse sentence; every byte of it is paid for in each first request.
        parameters: a JSON Schema object with ``type``, ``properties``, ``required``.
        declaration: what the guardian derives the policy from.
        deferred: not part of requests; a model finds it by ``find_tools`` and calls it by ``use_tool``.
    """

    name: str
    description: str
    parameters: dict[str, object]
    declaration: Declaration
    deferred: bool = False


class ToolOutcome(msgspec.Struct, frozen=True):
    """What a finished call gives back.

    Args:
        status: ``ok``, or ``error`` when the work was not done as asked (the model reads why in ``text``).
        text: for the model; already capped by the tool, with a note of what was left out.
        size_bytes: of the output before the cap.
        facts: changes of the session's plan that the call makes; recorded together with its outcome.
        entities: what the ids in ``text`` are called, for ``Declaration.identity_args``.
        warnings: what the tool found hidden in its output, for the person.
        question: to be put to a model in quarantine; its answer then takes the place of ``text``, which is "".
        private: this answer is private, though the tool's declaration lets it be public.
        reached: the hosts that the call's own requests reached. Empty means that nobody knows: what a tool with a way
            out then says counts as a source that cannot be trusted.
        landing: what became of the changes that the call made.
        quoted: the text quotes a machine, a server or a file, whatever the tool's declaration trusts of its answers.
        exit_code: of a command that ended.
        no_machine: there was no machine to work in; the text says why.
        attachments: pictures and documents that the model is shown with the text.
        order: a subagent to be started; the call then ends when that does, and its report takes the place of ``text``.
    """

    status: Literal["ok", "error"]
    text: str
    size_bytes: int = 0
    facts: tuple[PlanMade, ...] = ()
    entities: tuple[Entity, ...] = ()
    warnings: tuple[Reason, ...] = ()
    question: Question | None = None
    private: bool = False
    reached: tuple[str, ...] = ()
    quoted: bool = False
    no_machine: bool = False
    exit_code: int | None = None
    landing: Landing = Landing()
    attachments: tuple[Attachment, ...] = ()
    order: Order | None = None


class ToolContext(msgspec.Struct, frozen=True):
    """What a tool gets in addition to its arguments.

    Args:
        session: whose call it is.
        progress: takes output as it comes, for people who watch; it is not recorded. Never blocks.
        release: lets the values of secrets into the arguments that they are bound to; nothing when there is no vault.
        ask: puts what an external agent asks leave for to the gate; nothing where nobody could answer.
    """

    session: SessionId
    progress: Callable[[str], None]
    release: Release | None = None
    ask: AskLeave | None = None


class Tool(Protocol):
    """One thing that a model can ask for. A new tool is one file in ``tools/`` and one line in ``daemon.py``."""

    @property
    def spec(self) -> ToolSpec:
        """Name, schema and declaration; constant."""

    def parse(self, arguments: str) -> Mapping[str, object]:
        """The model's JSON as canonical plain data, defaults filled in.

        Raises:
            InvalidRequest: it is no JSON object, or does not fit the schema (unknown keys included).
        """

    async def run(self, permit: Permit, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """Spend the permit, then do the work.

        Raises:
            PermitRefused: the permit does not cover these arguments.
            MachineError: the machine failed; the gate records the text as the call's error.
            FetchFault: a page could not be had; the gate records the text as well.
        """
