"""Triggers: what may come in from outside and have a schedule run, and what is kept of each thing that came.

Layer: domain. What comes in is nobody's word: the run is handed it as material, which grants nothing, and works with
what its schedule was given beforehand.
"""

from __future__ import annotations

from typing import Annotated, Literal, assert_never

import msgspec

from stead.domain.bounds import Folder, bounds

MOST_BYTES = 1_000_000
"""Of what comes in; more is refused."""
MOST_HANDED_CHARS = 190_000
"""Of it that a run is handed."""
Form = Literal["standard", "github", "stripe", "dropbox", "slack"]
"""Whose way of signing a webhook: Standard Webhooks, or a vendor's."""
_SecretName = Annotated[str, bounds(pattern="^[a-z][a-z0-9_-]{0,63}$")]


class Webhook(msgspec.Struct, frozen=True, tag="webhook", forbid_unknown_fields=True):
    """Signed requests to ``/hooks/NAME`` of the listener, NAME being the schedule's.

    Args:
        form: how they are signed.
        secret: the name of the vault's secret that proves it.
    """

    form: Form
    secret: _SecretName


class Drop(msgspec.Struct, frozen=True, tag="drop", forbid_unknown_fields=True):
    """Files that are put into a folder. Each is taken in once, and moved to ``done`` in it.

    ``path``: absolute; only regular files right in it count, and no name that begins with a dot.
    """

    path: Folder


class Mailbox(msgspec.Struct, frozen=True, tag="mailbox", forbid_unknown_fields=True):
    """Mail that comes into a folder of an IMAP server, over TLS. Nothing in the mailbox is changed.

    Args:
        host: of the server.
        user: to sign in as.
        secret: the name of the vault's secret that has the password.
        port: for TLS from the first byte.
        folder: of the mailbox.
        senders: domains that mail may come from; empty for any. A name in From proves nothing, so ``proof`` is needed.
        proof: the name under which the mailbox's own server records in Authentication-Results what it has checked.
    """

    host: Annotated[str, bounds(minLength=1, maxLength=253)]
    user: Annotated[str, bounds(minLength=1, maxLength=320)]
    secret: _SecretName
    port: Annotated[int, bounds(minimum=1, maximum=65535)] = 993
    folder: Annotated[str, bounds(minLength=1, maxLength=200)] = "INBOX"
    senders: Annotated[tuple[str, ...], bounds(maxItems=50)] = ()
    proof: Annotated[str, bounds(maxLength=253)] = ""


Source = Webhook | Drop | Mailbox


class Arrival(msgspec.Struct, frozen=True, tag="arrival", forbid_unknown_fields=True):
    """Whenever something comes in from outside.

    Args:
        source: where from.
        waiting: how many runs may wait for the one before; beyond that a webhook is refused, and files and mail stay
            where they are until there is room.
        hourly: how many may begin within an hour; so also here.
    """

    source: Source
    waiting: Annotated[int, bounds(minimum=1, maximum=50)] = 20
    hourly: Annotated[int, bounds(minimum=1, maximum=100)] = 60


class Arrived(msgspec.Struct, frozen=True):
    """One thing that came in.

    Args:
        delivery: by what the sender tells it from others: an id, a file's name, a mail's number. The sender's word.
        content: names its bytes in the store of file contents, until its run has begun.
        size_bytes: of them.
    """

    delivery: str
    content: str
    size_bytes: int


class MailboxRead(msgspec.Struct, frozen=True, tag="schedule.mailbox_read"):
    """A mailbox was read up to a mail; what came up to there was recorded, or is not taken.

    Args:
        name: of the schedule.
        valid: the number under which the server's UIDs are valid; 0 for none.
        uid: of the last mail.
        from_ms: when it was opened first: what came before that is no arrival.
        read_ms: when; set as it is folded.
    """

    name: str
    valid: int
    uid: int
    from_ms: int = 0
    read_ms: int = 0


class Refusals(msgspec.Struct, frozen=True):
    """What was refused since the daemon started: how often, and when and why last; ``why`` is Stead's own word."""

    times: int = 0
    last_ms: int = 0
    why: str = ""


class TriggerRow(msgspec.Struct, frozen=True):
    """Where a trigger listens, for people.

    Args:
        name: its schedule's.
        words: what it waits for.
        url: where webhooks are to be sent; "" for other triggers.
        fault: why it cannot listen now; "" while it does.
        refused: what it did not take.
    """

    name: str
    words: str
    url: str
    fault: str
    refused: Refusals


class TriggerTest(msgspec.Struct, frozen=True):
    """What a signed request to the listener was answered. ``status``: of HTTP; 200 once a run is recorded."""

    status: int
    url: str


_FORMS: dict[Form, str] = {
    "standard": "Standard Webhooks",
    "github": "GitHub",
    "stripe": "Stripe",
    "dropbox": "Dropbox",
    "slack": "Slack",
}


def source_words(source: Source) -> str:
    """Where something comes from, as people read it."""
    match source:
        case Webhook(form=form):
            return f"a webhook comes ({_FORMS[form]})"
        case Drop(path=path):
            return f"a file comes into {path}"
        case Mailbox(user=user, folder=folder):
            return f"mail comes to {user} ({folder})"
        case _:
            assert_never(source)


def handed_text(arrived: Arrived, text: str) -> str:
    """What came in, as the run reads it: its text, and how much there was."""
    more = f"\n\n[cut: the rest of {len(text)} characters]" if len(text) > MOST_HANDED_CHARS else ""
    return f"{arrived.delivery[:200]} ({arrived.size_bytes} bytes)\n\n{text[:MOST_HANDED_CHARS]}{more}"
