"""Where the person is notified while they look elsewhere: the targets, as events of the home.

Layer: domain. A target says which kinds are sent there, and when. A secret is named and never in it. What waits to be
sent is in ``storage.outbox``; what is worth sending, and in which words, is in ``notices``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Protocol, get_args

import msgspec
from msgspec.structs import replace

from stead.domain.bounds import Name, bounds
from stead.domain.errors import PeerError

Kind = Literal["question", "ended", "turn", "failed", "cap", "schedule"]
"""The person's answer is waited for; a goal ended; a turn of a session ended; work could not go on; a budget or cap
stopped it; a schedule's run was refused or lost."""
KINDS: tuple[Kind, ...] = get_args(Kind)
USUAL: tuple[Kind, ...] = ("question", "ended", "failed", "cap", "schedule")
MOST_TARGETS = 20
TimeOfDay = Annotated[str, bounds(pattern=r"^([01]\d|2[0-3]):[0-5]\d$|^$")]
_Short = Annotated[str, bounds(maxLength=254)]
_Url = Annotated[str, bounds(maxLength=2000, pattern="^https?://")]


class Desktop(msgspec.Struct, frozen=True, tag="desktop", forbid_unknown_fields=True):
    """The desktop of the computer that Stead runs on."""


class Mail(msgspec.Struct, frozen=True, tag="mail", forbid_unknown_fields=True):
    """Mail through a server of the person's.

    Args:
        host: of the server; one of this computer or its networks may be named.
        sender: the address that it comes from.
        to: addresses, up to 5.
        port: 465 for ``tls``, 587 for ``starttls``, as a rule.
        security: TLS from the start, or by STARTTLS, with the host's own certificate; "none" on this computer alone.
        user: "" where the server asks for none.
        secret: name of the secret with the password.
    """

    host: _Short
    sender: _Short
    to: Annotated[tuple[_Short, ...], bounds(minItems=1, maxItems=5)]
    port: Annotated[int, bounds(minimum=1, maximum=65535)] = 465
    security: Literal["tls", "starttls", "none"] = "tls"
    user: _Short = ""
    secret: _Short = ""


class OutgoingWebhook(msgspec.Struct, frozen=True, tag="webhook", forbid_unknown_fields=True):
    """A POST of JSON, signed by the form of Standard Webhooks.

    ``secret``: name of the secret that signs, which is ``whsec_`` and base64.
    """

    url: _Url
    secret: Annotated[str, bounds(minLength=1, maxLength=64)]


class Push(msgspec.Struct, frozen=True, tag="push", forbid_unknown_fields=True):
    """A browser that asked for it. ``service`` is its push service's host; the rest of its address is in the vault."""

    service: _Short = ""


class ChatTarget(msgspec.Struct, frozen=True, tag="chat", forbid_unknown_fields=True):
    """A chat that was paired: ``domain.channels``. A question comes with buttons where it can be answered there."""

    channel: Name
    chat: Annotated[str, bounds(maxLength=500)]


Via = Desktop | Mail | OutgoingWebhook | Push | ChatTarget


class NotificationTarget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One place, and what is sent there.

    Args:
        name: the person's own choice.
        via: how.
        kinds: what is sent.
        quiet_from: from this time of day until ``quiet_to`` nothing is sent; what happens comes at the end. "": never.
        quiet_to: see above.
        digest: everything comes together at this time of day; "" for as it happens.
        urgent: questions come at once all the same.
        zone: whose clocks count; "" is the person's own when it is set.
    """

    name: Name
    via: Via
    kinds: Annotated[tuple[Kind, ...], bounds(minItems=1)] = USUAL
    quiet_from: TimeOfDay = ""
    quiet_to: TimeOfDay = ""
    digest: TimeOfDay = ""
    urgent: bool = False
    zone: Annotated[str, bounds(maxLength=60)] = ""


class TargetState(msgspec.Struct, frozen=True):
    """What is known of a target. What happened up to ``since`` (of the journal) is not sent; ``why`` it is off."""

    target: NotificationTarget
    on: bool = True
    since: int = 0
    why: str = ""

    def hears_of(self, seq: int) -> bool:
        """Whether what happened at this event of the journal is sent there, as it is now."""
        return self.on and seq > self.since


class TargetRow(msgspec.Struct, frozen=True):
    """A target for people.

    Args:
        waiting: things that are to be sent there.
        sent_ms: when something last arrived; 0 for never.
        tries: how often the message that is being sent has failed so far.
        next_ms: when it is tried again; 0 where nothing is.
        lost: messages that were given up, of the last week.
        error: what went wrong last; "" while all is well.
    """

    target: NotificationTarget
    on: bool
    why: str
    waiting: int = 0
    sent_ms: int = 0
    tries: int = 0
    next_ms: int = 0
    lost: int = 0
    error: str = ""


class TargetCheck(msgspec.Struct, frozen=True):
    """What came of a test: whether the target took a message, and what went wrong."""

    name: str
    ok: bool
    text: str


class PushKey(msgspec.Struct, frozen=True):
    """The home's public key for push services, as ``PushManager.subscribe`` takes it."""

    key: str


# -- events of the home, and commands ----------------------------------------------------------------------------------


class TargetSet(msgspec.Struct, frozen=True, tag="notify.set"):
    """A target was added or changed."""

    target: NotificationTarget
    door: str


class TargetSwitched(msgspec.Struct, frozen=True, tag="notify.switched"):
    """Things are sent there from now on, or no more. ``why`` is "" where the person said so."""

    name: str
    on: bool
    door: str
    why: str = ""


class TargetRemoved(msgspec.Struct, frozen=True, tag="notify.removed"):
    """It is no more, and what waited for it is dropped."""

    name: str
    door: str


TargetFact = TargetSet | TargetSwitched | TargetRemoved


def fold_targets(known: Mapping[str, TargetState], fact: TargetFact, seq: int) -> Mapping[str, TargetState]:
    """The targets by name after one more fact, which is the journal's event ``seq``."""
    if isinstance(fact, TargetSet):
        name = fact.target.name
        return {**known, name: replace(known.get(name, TargetState(fact.target, since=seq)), target=fact.target)}
    if isinstance(fact, TargetRemoved) or fact.name not in known:
        return {name: one for name, one in known.items() if name != fact.name}
    return {**known, fact.name: replace(known[fact.name], on=fact.on, since=seq, why=fact.why)}


class SetTarget(msgspec.Struct, frozen=True, tag="notify.set", forbid_unknown_fields=True):
    """Add or change a target. A browser adds itself (``SubscribePush``)."""

    target: NotificationTarget


class SubscribePush(msgspec.Struct, frozen=True, tag="notify.subscribe", forbid_unknown_fields=True):
    """A browser asks to be notified, by what its push service gave it. The keys are base64url."""

    name: Name
    endpoint: _Url
    p256dh: Annotated[str, bounds(maxLength=200)]
    auth: Annotated[str, bounds(maxLength=100)]


class SwitchTarget(msgspec.Struct, frozen=True, tag="notify.switch", forbid_unknown_fields=True):
    """Send things there, or no more. What happens while it is off is not sent there later."""

    name: Name
    on: bool


class RemoveTarget(msgspec.Struct, frozen=True, tag="notify.remove", forbid_unknown_fields=True):
    """Forget a target, and what waits for it."""

    name: Name


TargetCommand = SetTarget | SubscribePush | SwitchTarget | RemoveTarget

# -- sending -----------------------------------------------------------------------------------------------------------


class Message(msgspec.Struct, frozen=True):
    """What is sent: facts and a link into the page, where one signs in.

    Args:
        id: the same whenever it is sent again.
        kind: "digest" of several.
        title: one line.
        lines: of a digest, one for each thing; the last may say how many more there are.
        link: an address of the page.
        at_ms: when it happened, or the first of them.
        about: of one question, its id.
    """

    id: str
    kind: str
    title: str
    lines: tuple[str, ...]
    link: str
    at_ms: int
    about: str = ""


class Undelivered(PeerError):
    """A message that did not arrive.

    Args:
        text: why; it may quote the receiver.
        after_s: how long the receiver wants to be left alone; 0 where it does not say.
        final: this message never will.
        gone: and no other will, since the receiver is no more.
    """

    def __init__(self, text: str, *, after_s: float = 0, final: bool = False, gone: bool = False) -> None:
        super().__init__(text)
        self.after_s = after_s
        self.final = final or gone
        self.gone = gone


class Sender(Protocol):
    """Brings one message to a target."""

    def check(self, target: NotificationTarget) -> None:
        """Refuse what cannot be; raises ``InvalidRequest``."""

    async def subscribe(self, command: SubscribePush) -> Push:
        """Keep what a browser gave; raises ``InvalidRequest``."""

    async def forget(self, name: str) -> None:
        """Keep it no more."""

    async def push_key(self) -> str:
        """The key by which push services know this home, as browsers take it."""

    async def send(self, target: NotificationTarget, message: Message) -> None:
        """Send it, within half a minute; raises ``Undelivered``."""
