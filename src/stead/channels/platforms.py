"""Which platforms there are. A new one is its file, a line here, its part of ``manifests.toml``, and a test.

Layer: channels. A platform's file imports its vendor's library, so it is imported by its own process alone.
"""

from __future__ import annotations

from importlib import import_module  # noqa: TID251 - of this table alone, so that a process loads one platform

from stead.channels.base import Platform

_PLACES = {
    "discord": "discord.Discord",
    "email": "mail.Mail",
    "matrix": "matrix.Matrix",
    "signal": "signal_cli.Signal",
    "slack": "slack.Slack",
    "teams": "teams.Teams",
    "telegram": "telegram.Telegram",
    "webhook": "webhook.Webhook",
    "whatsapp": "whatsapp.WhatsApp",
}
"""Module and class by kind."""


UNUSED = ("h2",)
"""Modules that libraries load where they are installed and do without where they are not: they stay out of a channel's
process, which they would make larger by a third."""


def platform(kind: str) -> type[Platform]:
    """The platform of a kind; no other's file is imported, so that a channel's process stays small."""
    module, _, name = _PLACES[kind].partition(".")
    found: type[Platform] = getattr(import_module(f"stead.channels.{module}"), name)
    return found
