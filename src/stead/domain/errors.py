"""Every fault that Stead raises on purpose, by whose fault it is.

    SteadError
    ├── CallerError            the person or program that asked (HTTP 4xx, CLI exit 2)
    │   ├── InvalidRequest     a value that cannot be accepted
    │   ├── NotFound           no such session, approval, provider, event
    │   └── Conflict           the world moved on: answered already, ended already, key used for another request
    ├── PeerError              a model, a provider or a page
    │   ├── ModelFault         a request that brought no usable reply
    │   └── FetchFault         a page that could not be had
    │       └── AddressRefused it is where nothing may be reached
    ├── MachineError           the sandbox, or another process that works for Stead
    │   ├── MachineUnavailable it cannot be made here; says what is missing
    │   ├── MachineDied        it went away under a call
    │   ├── ToolFault          the work was refused or failed inside (no such file, not unique, time-out)
    │   └── EmbeddingFault     a text that brought no vector, or a search by vectors that was not made
    └── OurError               Stead or its home
        ├── PermitRefused      what was not allowed was run
        ├── Fenced             another runner owns the session; stop at once
        ├── BudgetRefused      a reservation would pass the home's cap
        ├── StorageFault       the disk is full, the database is foreign or damaged
        └── WrongKey           the database does not open with this key

Layer: domain. Denials, asks and reached limits are values, not errors. A message names the thing with ``!r`` and the
way out; it never holds a secret.
"""

from __future__ import annotations

from typing import ClassVar, Literal, LiteralString

_OfCallers = Literal["error", "caller", "invalid", "not_found", "conflict"]
_OfPeers = Literal["peer", "model", "fetch"]
_OfMachines = Literal["machine", "machine_unavailable", "machine_died", "tool", "embedding"]
_OfOurs = Literal["internal", "permit", "fenced", "budget", "storage", "wrong_key"]
Code = Literal[_OfCallers, _OfPeers, _OfMachines, _OfOurs]
"""What programs compare: one for each fault of the tree."""


class SteadError(Exception):
    """The root. ``code`` is stable and what a program compares; the text is for people.

    ``quotes``: whether the text may hold words that Stead did not write. Such a text is never said in Stead's own name.
    """

    code: ClassVar[Code] = "error"
    quotes = True


class CallerError(SteadError):
    """The caller can fix the request."""

    code: ClassVar[Code] = "caller"


class InvalidRequest(CallerError):
    """A value that cannot be accepted."""

    code: ClassVar[Code] = "invalid"


class NotFound(CallerError):
    """No such thing."""

    code: ClassVar[Code] = "not_found"


class Conflict(CallerError):
    """It was true once; it no longer is."""

    code: ClassVar[Code] = "conflict"


class PeerError(SteadError):
    """A model, a provider or a page is at fault."""

    code: ClassVar[Code] = "peer"


class ModelFault(PeerError):
    """A model request that brought no usable reply.

    Args:
        message: cause and next step.
        kind: ``rate_limit``, ``overloaded``, ``server``, ``auth``, ``connection``, ``timeout``, ``context``,
            ``refused``, ``malformed`` (nonsense on the wire), ``truncated`` (no stop reason), ``unconfigured``.
        retry_after_s: how long the provider asked to wait, in seconds; 0 when it did not say.
        attempts: one line per model that was tried, in order.
        charged: whether the provider may have counted tokens for it.
    """

    code: ClassVar[Code] = "model"

    def __init__(
        self,
        message: str,
        *,
        kind: str,
        retry_after_s: float = 0.0,
        attempts: tuple[str, ...] = (),
        charged: bool = True,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after_s = retry_after_s
        self.attempts = attempts
        self.charged = charged


class FetchFault(PeerError):
    """A page that could not be had: refused address, redirect, size, time, type.

    Args:
        sentence: as ``MachineError`` takes it.
        data: quoted with it, as ``MachineError`` takes it.
    """

    code: ClassVar[Code] = "fetch"

    def __init__(self, sentence: LiteralString, *data: object) -> None:
        super().__init__(sentence.format(*data) if data else sentence)
        self.quotes = bool(data)


class AddressRefused(FetchFault):
    """A name leads to an address that is not of the public Internet."""


class MachineError(SteadError):
    """The sandbox is at fault, or another process that works for Stead.

    Args:
        sentence: a constant, with ``{}`` in the places of data; a test over the source holds every caller to it.
        data: what is quoted: paths, names, and whatever a machine, a file, a server or the system said.
    """

    code: ClassVar[Code] = "machine"

    def __init__(self, sentence: LiteralString, *data: object) -> None:
        super().__init__(sentence.format(*data) if data else sentence)
        self.quotes = bool(data)


class MachineUnavailable(MachineError):
    """No machine can be made on this host. The text says what is missing and how to get it."""

    code: ClassVar[Code] = "machine_unavailable"


class MachineDied(MachineError):
    """The machine went away under a call: killed, out of memory, or a broken runner."""

    code: ClassVar[Code] = "machine_died"


class ToolFault(MachineError):
    """Work inside failed in a way that the model can act on: no such file, text not found, not a directory."""

    code: ClassVar[Code] = "tool"


class EmbeddingFault(MachineError):
    """The embedder did not do what was asked. Nothing of it was done, and memory goes on without vectors.

    Args:
        message: cause and next step.
        kind: ``absent`` (not installed), ``failed`` (it cannot be loaded), ``crashed`` (its process ended; it starts
            again by itself, after a while), ``dead`` (it ended too often; ``Embedder.ready`` tries again), ``timeout``,
            ``busy`` (its vectors are being loaded), ``bad_vector`` (not finite, or zero), ``unloaded`` (the process
            does not hold the place; load it and ask again), ``refused`` (more than it takes, or more confidential
            than its destination), ``closed``, ``peer`` (a provider's server).
    """

    code: ClassVar[Code] = "embedding"

    def __init__(self, message: str, *, kind: str) -> None:
        super().__init__("{}", message)
        self.kind = kind


class OurError(SteadError):
    """Stead or its home is at fault."""

    code: ClassVar[Code] = "internal"


class PermitRefused(OurError):
    """What was not allowed was about to run."""

    code: ClassVar[Code] = "permit"


class Fenced(OurError):
    """Another runner appended to this session. The one who sees this stops and drops its state."""

    code: ClassVar[Code] = "fenced"


class BudgetRefused(OurError):
    """A reservation would pass the home's cap. Nothing was reserved and no event was written."""

    code: ClassVar[Code] = "budget"


class StorageFault(OurError):
    """The disk is full or read-only, or the database is foreign or damaged."""

    code: ClassVar[Code] = "storage"


class WrongKey(OurError):
    """The database does not open with this key."""

    code: ClassVar[Code] = "wrong_key"
