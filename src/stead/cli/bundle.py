"""``doctor --bundle``: an archive for a bug report, in which nothing that was said and no secret stands.

Layer: cli. It holds versions, the doctor's results, the settings that are not the defaults, the names of providers and
models, and the end of the log. It is made from lists of what may be in it; no file of the home is copied whole. All of
it passes the redactor: what looks like a secret, and every value of the environment that may be one, gives way to a
mark, and the person's folder and account to ``~`` and ``USER``.
"""

from __future__ import annotations

import io
import json
import os
import platform
import re
import sys
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path

from stead import __version__
from stead.cli import figures
from stead.cli.checks import LIBRARIES
from stead.cli.invocation import CommandError, Invocation
from stead.cli.logs import tail
from stead.client import ApiError, Json
from stead.config import Home

_LOG_LINES, _LINE_CHARS = 2000, 400
_LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ [\w.]+: ")
_FRAME = re.compile(r'\s+File ".{1,300}", line \d+, in \S+$')
_FAULT = re.compile(r"((?:[a-z_]\w*\.)*[A-Z]\w{2,60}):? ?.*")
_PLACES = frozenset({"audit_heads", "memory_folder", "toolchain_folders"})
_OF_FOLDERS = frozenset({"schedules", "allowed hosts", "memory folder", "signed heads", "passphrase file"})
"""Checks that tell where the person's own things are."""
_LEAST_CHARS = 6
_PACKAGES = {"argon2": "argon2-cffi"}
_QUOTED = re.compile(r"'[^'\n]+'|\"[^\"\n]+\"")
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|COOKIE|AUTH", re.IGNORECASE)


def write(invocation: Invocation, name: str, checks: list[Json]) -> int:
    """Say what the archive has in it, then write it, for this account alone.

    Raises:
        CommandError: there is a file of that name already.
    """
    clean = _cleaner(invocation.home)
    parts: dict[str, tuple[str, str]] = {
        "versions.json": ("versions of Stead, Python, the system and libraries", _json(_versions())),
        "doctor.json": ("what doctor found", _json([_without_folders(check) for check in checks])),
        "settings.json": ("settings that are not the defaults, without folders", _json(_settings(invocation.home))),
        "providers.json": ("providers, presets and models, without keys and addresses", _json(_providers(invocation))),
        "log.txt": (f"the last {_LOG_LINES} lines of the log, without what an error said", _log(invocation.home)),
    }
    texts = {part: clean(text) for part, (_, text) in parts.items()}
    sizes = {part: len(text.encode()) for part, text in texts.items()}
    contents = {part: {"what": parts[part][0], "size_bytes": size} for part, size in sizes.items()}
    if not invocation.as_json:
        invocation.out.line("The archive has in it:")
        for part, row in contents.items():
            invocation.out.line(f"  {part:<14}  {figures.size(sizes[part]):>8}  {row['what']}")
        invocation.out.line("It has nothing of your sessions, memories, files and secrets. Read it before you send it.")
    _write(name, texts)
    return invocation.report({"file": name, "contents": contents}, f"Written to {name}.")


def _write(name: str, texts: Mapping[str, str]) -> None:
    try:
        opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError as error:
        raise CommandError(f"there is a file {name!r} already", "give a new one") from error
    with os.fdopen(opened, "wb") as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
        for part, text in texts.items():
            content = text.encode()
            member = tarfile.TarInfo(f"stead-report/{part}")
            member.size, member.mode = len(content), 0o600
            archive.addfile(member, io.BytesIO(content))


def _without_folders(check: Json) -> Json:
    if check["name"] not in _OF_FOLDERS:
        return check
    return {**check, **{part: _QUOTED.sub("'…'", check[part]) for part in ("text", "fix", "cure")}}


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=True) + "\n"


def _versions() -> Json:
    from importlib import metadata

    found = {}
    for library in LIBRARIES:
        try:
            found[library] = metadata.version(_PACKAGES.get(library, library))
        except metadata.PackageNotFoundError:
            found[library] = "not found by this name"
    system = {"system": platform.system(), "release": platform.release(), "machine": platform.machine()}
    return {"stead": __version__, "python": sys.version, **system, "libraries": found}


def _settings(home: Home) -> Json:
    """Settings that were changed; of a folder only that it was."""
    from stead.config import Settings, load_settings
    from stead.domain.errors import InvalidRequest

    try:
        settings = load_settings(home)._asdict()
    except (InvalidRequest, OSError):
        return {"unreadable": True}
    settings["unknown"] = len(settings["unknown"])
    usual = {**Settings()._asdict(), "unknown": 0}
    changed = {name: value for name, value in settings.items() if value != usual[name]}
    return {name: "(a folder)" if name in _PLACES else value for name, value in changed.items()}


def _providers(invocation: Invocation) -> Json:
    try:
        rows = list(invocation.client.items("/providers")) if invocation.home.address.exists() else []
    except ApiError:
        rows = []
    names = ("preset", "model", "clearance", "found")
    return {"providers": [{name: row[name] for name in names} for row in rows]}


def _log(home: Home) -> str:
    """Lines of our own form; of a traceback the places and the kind of fault: its words may repeat data."""
    try:
        with home.log.open("rb") as file:
            lines = [line.decode("utf-8", "replace") for line in tail(file, _LOG_LINES)]
    except FileNotFoundError:
        return ""
    kept = []
    for line in lines:
        if _LINE.match(line):
            kept.append(_QUOTED.sub("'…'", line)[:_LINE_CHARS])  # what an error quotes is a name or words of data
        elif _FRAME.fullmatch(line):
            kept.append(line)
        elif (fault := _FAULT.fullmatch(line)) and fault[1].endswith(("Error", "Fault", "Exception", "Warning")):
            kept.append(fault[1])
    return "\n".join(kept) + "\n"


def _cleaner(home: Home) -> Callable[[str], str]:
    """Takes out secrets by their shape and those of this environment, the person's folder, and their account's name."""
    from stead.domain.secrets import Known
    from stead.screen.redaction import Redactor

    known = [
        Known(name.lower(), f"[redacted: ${name}]", value)
        for name, value in os.environ.items()
        if len(value) >= _LEAST_CHARS and _SECRET_NAME.search(name)
    ]
    redactor = Redactor(known)
    person = str(Path.home())
    account = os.environ.get("USER", "")

    def clean(text: str) -> str:
        text = redactor.clean(text).replace(json.dumps(str(home.root))[1:-1], "HOME").replace(str(home.root), "HOME")
        text = text.replace(person, "~") if person != "/" else text
        return re.sub(rf"\b{re.escape(account)}\b", "USER", text) if len(account) > 2 and account != "root" else text

    return clean
