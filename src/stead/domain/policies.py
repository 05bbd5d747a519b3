"""The vocabulary of trust: labels, risk, levels of asking, and the guardian's verdicts.

Layer: domain. Says what the words are; ``guardian`` says what follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

import msgspec

from stead.domain.ids import CallDigest
from stead.domain.permits import Permit


class Integrity(StrEnum):
    """Where a value came from, best first."""

    PERSON = "person"
    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


class Confidentiality(StrEnum):
    """Who may read a value, least restricted first."""

    PUBLIC = "public"
    PRIVATE = "private"
    SECRET = "secret"  # noqa: S105 - a label, not a password

    def exceeds(self, clearance: Confidentiality) -> bool:
        """Whether a destination of this clearance may not have the value."""
        order = list(Confidentiality)
        return order.index(self) > order.index(clearance)


Clearance = Literal["public", "private"]
"""Up to which confidentiality a destination may be sent values. None is cleared for ``secret``."""


class Label(msgspec.Struct, frozen=True):
    """What is known about a value's origin and readers. It is stored with the event that carries the value."""

    integrity: Integrity = Integrity.UNTRUSTED
    confidentiality: Confidentiality = Confidentiality.PRIVATE
    typed: bool = False
    """Nothing but numbers, dates and words from a fixed list: it cannot carry an instruction."""

    @property
    def taints(self) -> bool:
        """Whether a reader of the value may from then on be doing a stranger's will."""
        return self.integrity is Integrity.UNTRUSTED and not self.typed


class Origin(msgspec.Struct, frozen=True):
    """Where one argument of a call came from.

    Args:
        argument: its name, with the place in a list as ``to[1]``.
        integrity: the best that can be shown: it stands in the person's words, in a trusted tool's output, or neither.
        source: the untrusted source that has it, as ``Session.sources`` names them; "" for the person's words, and for
            what stands nowhere and so is the model's own.
    """

    argument: str
    integrity: Integrity
    source: str = ""


class Entity(msgspec.Struct, frozen=True):
    """Something that a tool named by an id: what it is called says to a person what the id does not.

    Args:
        kind: as in ``Declaration.identity_args``: ``file``, ``mail``, ``event``.
        id: the tool's own.
        name: its title, subject or file name.
        gives: addresses and accounts that the system itself keeps of it, apart from any text: who sent a mail, who
            takes part in an event. They may be targets where the person named the thing.
    """

    kind: str
    id: str
    name: str
    gives: tuple[str, ...] = ()


class PlannedCall(msgspec.Struct, frozen=True):
    """A call that a plan names.

    Args:
        tool: its name.
        arguments: those that are known ahead, as canonical JSON; an argument that names a thing by its id may give the
            thing's name instead.
        takes: arguments whose values are to be taken from what a source says later: the source's name, or its kind.
            It grants something only where ``confirmed``.
        up_to: the largest value of a number that is not known ahead. It grants something only where ``confirmed``.
        confirmed: the person saw this very call in a plan and said yes to it.
    """

    tool: str
    arguments: str
    takes: Mapping[str, str] = {}
    up_to: Mapping[str, float] = {}
    confirmed: bool = False


class Risk(StrEnum):
    """How bad a call could be. What channels call risky is high and up."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Level(StrEnum):
    """How often the person is asked."""

    AUTO = "auto"
    """Never."""
    SESSION = "session"
    """Once per session and tool."""
    EACH = "each"
    """Every call."""
    CONFIRM = "confirm"
    """Every call, with its parameters shown; a grant never covers it."""


class GrantScope(StrEnum):
    """How far a grant reaches."""

    SESSION = "session"
    PROJECT = "project"


class Profile(StrEnum):
    """A named strictness that a person chooses for a session.

    Events before version 2 call ``ask`` "default", and have "trusted-project" for ``work``.
    """

    WORK = "work"
    """Free is what a machine does without a new host: its changes land, or wait for the person's review."""
    ASK = "ask"
    """Writing files is asked once a session, running programs by the risk of the command."""
    READONLY = "readonly"
    """Nothing that could change something is there at all."""


Decision = Literal["deny", "ask", "allow"]
"""What a rule says of a call; deny goes before ask, ask before allow."""
Action = Literal["read", "change", "delete", "run", "leave", "send"]
"""What a call does, as rules speak of it. ``leave``: it sends anything off this computer. ``send``: it acts on the
outside world, or on what cannot be brought back. ``run``: it starts a program."""
ConditionRole = Literal["host", "recipient", "path", "command", "amount", "account"]
"""What of a call a condition tests, whatever the argument is called."""


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One test of what a call names.

    Args:
        role: which of its arguments are tested.
        side: whether a name has to be one of the values, or none of them.
        values: at least one. Hosts and the domains of recipients stand for what is below them too, ``=name`` for that
            name alone, ``*.name`` for what is below it, ``*`` for all. Paths are globs below the workspace, a folder
            ends in ``/``. A command is a program, its first words and flags that must be there. Amounts are intervals
            with their ends: ``..100``, ``100..``, ``5..10``.
    """

    role: ConditionRole
    values: tuple[str, ...]
    side: Literal["inside", "outside"] = "inside"


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A standing rule of the person's, as typed data.

    It speaks of a call that does one of ``what``, by one of ``tools``, and meets every condition of ``where``; a part
    that is empty says nothing. Several conditions of one role must hold for the same name. A ban or a question needs
    one name that meets them; an allowance needs all of what the call does and names.

    Args:
        id: ``r_`` and 8 hex digits.
        decision: deny goes before ask, ask before allow.
        what: what a call does.
        tools: exact names; rules of older homes have ``*`` for any part.
        where: what it names.
        directory: the folder that it holds for; "" for every one.
        expires_at_ms: when it ends, in milliseconds since 1970; 0 for never.
        text: the sentence that it was made from; "" for the form.
        confirmed: the person has seen it in this form.
    """

    id: str
    decision: Decision
    what: tuple[Action, ...] = ()
    tools: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    directory: str = ""
    expires_at_ms: int = 0
    text: str = ""
    confirmed: bool = True


class Reason(msgspec.Struct, frozen=True):
    """Why a verdict was reached.

    Args:
        rule: the stable name of the rule that decided, as docs/security-model.md lists it; never empty.
        text: one sentence for the person and the model, naming the thing and the way out.
    """

    rule: str
    text: str


class Allow(msgspec.Struct, frozen=True):
    """The call may run now, once, with this permit. The permit exists only in this process and is never encoded.

    Args:
        permit: for this very call, spent by the tool.
        reason: why.
        risk: how bad it could be.
        planned: the place in the session's plan of the call that this one uses up; -1 for none.
        strays: it reads something private that no plan named, after something untrusted was read: from then on no plan
            and no grant lets anything leave unasked.
    """

    permit: Permit
    reason: Reason
    risk: Risk
    planned: int = -1
    strays: bool = False


class Ask(msgspec.Struct, frozen=True):
    """A person must answer first.

    Args:
        digest: what the answer has to name.
        level: how often such calls are asked.
        reason: why.
        risk: how bad it could be.
        shape: which calls a lasting yes would cover, see ``guardian.shapes``; "" when none may be given.
        origins: where the arguments that carry authority came from.
        bound: what a lasting yes is bound to, this session and the files that the call runs; "" for nothing.
    """

    digest: CallDigest
    level: Level
    reason: Reason
    risk: Risk
    shape: str
    origins: tuple[Origin, ...]
    bound: str = ""


class Deny(msgspec.Struct, frozen=True):
    """The call does not run, and asking would not help."""

    reason: Reason
    risk: Risk


Verdict = Allow | Ask | Deny
