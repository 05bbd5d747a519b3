"""What a model reads of the secrets of its objective.

Layer: domain. Words alone: where a value may go is decided by ``bindings``.
"""

from __future__ import annotations

from collections.abc import Iterable

from stead.domain.secrets import Binding, Secret, ToolBinding


def told(secrets: Iterable[Secret]) -> str:
    """What a model reads about the secrets of its objective: a line for each, "" for none."""
    return "\n".join(map(_line, secrets))


def _line(secret: Secret) -> str:
    start = f"Secret {secret.name}: write {secret.placeholder} where its value belongs, in an address percent-encoded; "
    if not secret.bindings:
        return start + "it is bound to nothing yet, so it stays as it is everywhere."
    return start + f"it works in {'; '.join(map(_described, secret.bindings))}, and nowhere else."


def _described(binding: Binding) -> str:
    """Where a binding lets the value go, in a few words."""
    if isinstance(binding, ToolBinding):
        return f"the argument {binding.argument} of the tool {binding.tool}"
    methods = "/".join(binding.methods) or "any"
    where = f"{'https' if binding.tls else 'http'}://{binding.host}{binding.path}"
    return f"{_part(binding.place)} of {methods} requests to {where}"


def _part(place: str) -> str:
    """A part of a request, in a few words."""
    part, _, name = place.partition(":")
    return f"one {part}" if not name else f"the {'field' if part == 'body' else part} {name!r}"
