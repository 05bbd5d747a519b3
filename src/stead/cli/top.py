"""``top``: everything that is under way on one screen, live.

Layer: cli. Textual is an extra, and takes a second to import: it is looked for first, and imported last.
"""

from __future__ import annotations

from argparse import Namespace

from stead.cli.invocation import FAILED, NEEDS_PERSON, CommandError, Invocation
from stead.config import install_command

TEXTUAL = "textual==8.2.8"
"""As in the extra ``top`` of pyproject.toml; a test compares them."""


def top(invocation: Invocation, arguments: Namespace) -> int:
    """Show the dashboard until it is left."""
    from importlib.util import find_spec

    if not invocation.interactive or invocation.out.dumb:
        way = "stead status, stead objectives, or stead watch ID"
        raise CommandError("there is no terminal that could show a dashboard", way, exit_code=NEEDS_PERSON)
    if find_spec("textual") is None:
        raise CommandError(
            "the dashboard needs the extra 'top', which is not installed", install_command(TEXTUAL), exit_code=FAILED
        )
    invocation.client.get("/status")  # starts the daemon where none runs
    from stead.cli.dashboard import Dashboard

    dashboard = Dashboard(invocation)
    dashboard.run(mouse=False)  # the terminal's own selection goes on working
    dashboard.feed.stop()
    return dashboard.return_code or 0
