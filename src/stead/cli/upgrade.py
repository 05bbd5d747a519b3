"""``upgrade``: look for another version by choice, go to it, and come back.

Layer: cli. The home is brought over by the daemon of the new version at its first start (``storage/upgrading.py``);
where that start fails, the program and the home are put back as they were.
"""

from __future__ import annotations

import json
import subprocess
from argparse import Namespace
from pathlib import Path

from stead import __version__
from stead.cli import releases
from stead.cli.daemon_control import end
from stead.cli.figures import counted
from stead.cli.forms import YES, OneOf, arg, command
from stead.cli.invocation import FAILED, CommandError, Invocation
from stead.cli.output import clean
from stead.cli.starting import answering
from stead.cli.way_back import fall_back, put_back

_START_S = 3600.0
_OTHER_WAYS = "as it was installed: uv tool upgrade stead, pipx upgrade stead, apt install ./stead_....deb, or git pull"


def _upgrade(invocation: Invocation, arguments: Namespace) -> int:
    if arguments.check:
        return _check(invocation)
    if arguments.back:
        return _back(invocation, arguments)
    root = releases.installation()
    if root is None:
        raise CommandError("this Stead was not installed from a release's archive", _OTHER_WAYS, code="release")
    place, file = _wanted(invocation, arguments)
    if file.version == __version__:
        return invocation.report({"version": __version__, "upgraded": False}, f"Stead {__version__} runs already.")
    ran = answering(invocation)
    if ran and invocation.client.get("/status")["live_sessions"]:
        raise CommandError("something is under way", "stead upgrade, when that rests; or stead down first")
    archive = root / "versions" / f".new-{file.name}"
    try:
        releases.bring(place, file, archive)
        releases.install(root, file, archive)
    finally:
        archive.unlink(missing_ok=True)
    end(invocation)
    releases.switch(root, file.version)
    started = _current(root, invocation, "up")
    if started.returncode or json.loads(started.stdout)["version"] != file.version:
        raise _failed(invocation, root, file.version, started, ran=ran)
    releases.settle(root)
    if not ran:
        _current(root, invocation, "down")
    found = {"version": file.version, "before": __version__, "upgraded": True}
    return invocation.report(
        found,
        f"Stead {file.version} runs; it was {__version__}.",
        "The way back, until the next one: stead upgrade --back",
    )


def _wanted(invocation: Invocation, arguments: Namespace) -> tuple[str, releases.File]:
    """The folder or address, and the file in it."""
    if not arguments.file:
        place = _configured(invocation)
        offered = releases.files_in(releases.read_sums(place))
    else:
        given = Path(arguments.file).expanduser().absolute()
        place = str(given.parent)
        text = Path(arguments.sums).read_text("utf-8") if arguments.sums else releases.read_sums(place)
        offered = [file for file in releases.files_in(text) if file.name == given.name]
    if not offered:
        what = (
            f"{arguments.file!r} is not among"
            if arguments.file
            else f"nothing for this computer is among the sums in {place}:"
        )
        raise CommandError(
            f"{what} {releases.SUMS}", "give a file of a release with its sums next to it, or --sums FILE"
        )
    return place, offered[0]


def _configured(invocation: Invocation) -> str:
    from stead.config import load_settings

    if place := load_settings(invocation.home).updates:
        return place
    raise CommandError(
        "no place of releases is set, and Stead asks nobody by itself",
        f'updates = "https://..." or a folder in {str(invocation.home.settings)!r}; or: stead upgrade FILE',
    )


def _check(invocation: Invocation) -> int:
    place = _configured(invocation)
    offered = releases.files_in(releases.read_sums(place))
    newest = offered[0].version if offered else ""
    newer = bool(newest) and releases.order(newest) > releases.order(__version__)
    said = (
        f"Stead {clean(newest)} is there; this is {__version__}. Go to it: stead upgrade"
        if newer
        else (f"Stead {__version__} is the newest in {clean(place)}.")
    )
    return invocation.report({"version": __version__, "newest": newest, "newer": newer, "place": place}, said)


def _current(root: Path, invocation: Invocation, word: str) -> subprocess.CompletedProcess[str]:
    words = [str(root / "current/bin/stead"), "--home", str(invocation.home.root), "--json", word]
    return subprocess.run(
        words, capture_output=True, text=True, timeout=_START_S, check=False, stdin=subprocess.DEVNULL
    )


def _failed(
    invocation: Invocation, root: Path, version: str, started: subprocess.CompletedProcess[str], *, ran: bool
) -> CommandError:
    _current(root, invocation, "down")
    releases.switch_back(root)
    fall_back(invocation)
    why = clean((started.stderr or started.stdout).strip())[-1500:]
    again = _current(root, invocation, "up").returncode if ran else 0
    cause = f"Stead {version} does not start, so {__version__} and your home are as they were:\n{why}"
    return CommandError(
        cause, "stead doctor" if again else "report it; your home is whole", exit_code=FAILED, code="upgrade"
    )


def _back(invocation: Invocation, arguments: Namespace) -> int:
    ran = answering(invocation)
    loss = "What Stead recorded since the upgrade is moved aside."
    invocation.confirm("back", loss, yes=arguments.yes)
    end(invocation)
    root = releases.installation()
    went = put_back(invocation)
    program = releases.switch_back(root) if root else ""
    if went is None and not program:
        raise CommandError("there is no way back: no upgrade left one", "stead restore FILE", code="not_found")
    if root and program and ran:
        _current(root, invocation, "up")
    of = f", by Stead {went.before}" if went and went.before else ""
    lines = [f"Your home is as it was left before the upgrade{of}." if went else "Your home was not changed by it."]
    if went and went.set_aside:
        lines.append(f"{counted(went.set_aside, 'event')} recorded since are in '{clean(went.moved_to)}'.")
    lines.append(f"Stead {program} is in its place again." if program else "Next: install that version, then stead up")
    return invocation.report({**(went._asdict() if went else {}), "program": program}, *lines)


_FILE = arg("[file FILE]", "an archive or a wheel of a release; else the newest in the place set as updates")
_SUMS = arg("--sums FILE", "its checksums (else SHA256SUMS next to it)")
_WAYS = OneOf(arg("--check", "say whether there is a newer one"), arg("--back", "return to the version of before"))
COMMANDS = {"upgrade": command(_upgrade, _FILE, _SUMS, _WAYS, YES)}
