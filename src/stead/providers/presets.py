"""What is known of each vendor ahead of time: its address, its wire, where its key is looked for, how it fails.

Layer: providers. The facts are in ``vendors.json``, read once; here is their form.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from stead.domain import ports

Kind = Literal["anthropic", "openai", "google", "rehearsal"]
"""The wire that is spoken."""

REHEARSAL = ports.REHEARSAL
"""The name of the built-in model's preset, provider and model."""


class Preset(msgspec.Struct, frozen=True):
    """One vendor or kind of server.

    Args:
        name: what a person types.
        title: what a person reads.
        kind: the wire.
        base_url: "" when the person must give it.
        key_env: environment variable of the key, "" when there is none.
        url_env: environment variable that may override ``base_url``, "" when there is none.
        model: the default; "" takes the first that the server lists.
        window_tokens: input and output together, where the price list does not say.
        max_output_tokens: what one reply may have.
        prices: the vendor's id in the price list; "" when it has none.
        local: runs on the person's machine and costs nothing.
        patience: how many times longer than usual its first byte may take; a local server may load the model first.
        cap_field: how OpenAI's wire names the cap on the output.
        cache_key: on OpenAI's wire, a session's requests carry its id, so that they reach the machine with its cache.
    """

    name: str
    title: str
    kind: Kind = "openai"
    base_url: str = ""
    key_env: str = ""
    url_env: str = ""
    model: str = ""
    window_tokens: int = 32_768
    max_output_tokens: int = 8192
    prices: str = ""
    local: bool = False
    patience: float = 1.0
    cap_field: str = "max_tokens"
    cache_key: bool = False


class Deadlines(msgspec.Struct, frozen=True):
    """How long a request may take, in seconds.

    Args:
        connect_s: to reach the server.
        first_byte_s: from the request to the head of its answer, times the preset's patience.
        between_s: between two pieces of the answer.
        total_s: all in all.
        probe_s: from a failure to the first look whether the server is back.
        ending_s: from a whole reply to the end of its stream, after which the connection can serve again.
        after_sleep_s: from the moment that the host woke to the next piece of an answer.
    """

    connect_s: float = 10.0
    first_byte_s: float = 60.0
    between_s: float = 60.0
    total_s: float = 600.0
    ending_s: float = 5.0
    probe_s: float = 5.0
    after_sleep_s: float = 2.0


class Meaning(msgspec.Struct, frozen=True):
    """A kind of failure, and how vendors tell of it.

    Args:
        kind: see ``failures``.
        said: for a person.
        statuses: of HTTP.
        words: codes, types and statuses in an error's body, in lower case.
        sentences: parts of its message, in lower case, where it has nothing else.
    """

    kind: str
    said: str
    statuses: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()


class _Vendors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``vendors.json``.

    Args:
        presets: the order in which they are offered and looked for.
        most_output_tokens: of one reply, by how a model's name begins; from the vendors' model pages.
        text_only: how the names of models begin of which it is known that they take no pictures and documents.
        errors: how vendors tell of failures.
    """

    presets: tuple[Preset, ...]
    most_output_tokens: Mapping[str, int]
    text_only: tuple[str, ...]
    errors: tuple[Meaning, ...]


_VENDORS = msgspec.json.decode((Path(__file__).parent / "vendors.json").read_bytes(), type=_Vendors)

PRESETS = {preset.name: preset for preset in _VENDORS.presets}
ERRORS = _VENDORS.errors

LOCAL_SERVERS = tuple(preset for preset in PRESETS.values() if preset.local and preset.base_url)
"""What is looked for on this machine."""


def most_output(preset: Preset, model: str) -> int:
    """What one reply of a model may have, in tokens."""
    name, known = _bare(model), _VENDORS.most_output_tokens.items()
    return next((most for prefix, most in known if name.startswith(prefix)), preset.max_output_tokens)


def takes_text_alone(model: str) -> bool:
    """Whether it is known of a model that it takes no pictures and no documents."""
    return _bare(model).startswith(_VENDORS.text_only)


def _bare(model: str) -> str:
    return model.rpartition("/")[2].lower()
