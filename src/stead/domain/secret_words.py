"""The secrets of a session as its model reads them: names and placeholders, never values.

Layer: domain. Text alone: ``domain.bindings`` decides where a value may go.
"""

from __future__ import annotations

from collections.abc import Iterable

from stead.domain.secrets import Binding, Secret, ToolBinding


def secrets_text(secrets: Iterable[Secret]) -> str:
    """One line for each secret, "" for none."""
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
