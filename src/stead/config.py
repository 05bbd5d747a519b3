"""Where the home is, and the few settings that are needed before anything else can be read.

Layer: config. Everything that can change while Stead runs is an event, not a setting here. Standard library only: the
command line imports this at its start.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from stead.domain.errors import Conflict, InvalidRequest

CHROMIUM = (
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/headless_shell",
)
"""Where distributions put Chromium's own program. What stands in ``/usr/bin`` is often a script of theirs."""


def code_id() -> str:
    """What the program's code is now: another value after an update, also where the version stays the same.

    From the sizes and times of its files, which takes some milliseconds; reading them all would take ten times as long.
    """
    from hashlib import sha256

    found = sha256()
    for folder, folders, files in os.walk(Path(__file__).parent):
        folders[:] = sorted(set(folders) - {"__pycache__", "static"})
        for name in sorted(files):
            facts = os.stat(os.path.join(folder, name))
            found.update(f"{name} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return found.hexdigest()[:16]


class Home(NamedTuple):
    """The folder of one person's Stead. One daemon serves it.

    Args:
        root: absolute; created with mode 0700 by ``make``.
        memory_folder: where the files of memory are, absolute; none for the home itself.
        toolchains: further folders of toolchains, absolute; None where no toolchains are shown to machines.
        changes: how they are kept apart; see ``Settings``.
    """

    root: Path
    memory_folder: Path | None = None
    toolchains: tuple[str, ...] | None = ()
    changes: Literal["auto", "copy"] = "auto"

    def under(self, settings: Settings) -> Home:
        """The same home with the folders that its settings name."""
        memory = Path(settings.memory_folder) if settings.memory_folder else self.memory_folder
        toolchains = settings.toolchain_folders if settings.toolchains == "auto" else None
        return self._replace(memory_folder=memory, toolchains=toolchains, changes=settings.changes)

    @property
    def data(self) -> Path:
        """What a backup holds: the journal, read models, backups before migrations."""
        return self.root / "data"

    @property
    def journal(self) -> Path:
        """The encrypted journal."""
        return self.data / "journal.db"

    @property
    def views(self) -> Path:
        """Derived, rebuildable read models, one file per workspace."""
        return self.data / "views"

    @property
    def contents(self) -> Path:
        """The encrypted store of checkpoints."""
        return self.data / "contents"

    @property
    def key(self) -> Path:
        """The key file (0600), outside the data folder so that a copy of the data does not carry it."""
        return self.root / "key"

    @property
    def memory_files(self) -> Path:
        """The files of memory that a person reads and edits; no machine may see them."""
        return self.memory_folder or self.root / "memory-files"

    @property
    def mirrored(self) -> Path:
        """What was last written into them: ids, without words."""
        return self.data / "memory-files.json"

    @property
    def specialists(self) -> Path:
        """The person's own specialists, one Markdown file each; need not be there."""
        return self.root / "specialists"

    @property
    def heads(self) -> Path:
        """The copy of the journal's signed heads, unless the settings put it elsewhere; outside the data folder."""
        return self.root / "heads.jsonl"

    @property
    def settings(self) -> Path:
        """The boot settings; absent means defaults."""
        return self.root / "config.toml"

    @property
    def run(self) -> Path:
        """What lives only while a daemon runs: its lock, its address."""
        return self.root / "run"

    @property
    def address(self) -> Path:
        """Port, name and bearer of the running daemon, JSON, 0600."""
        return self.run / "daemon.json"

    @property
    def lock(self) -> Path:
        """Held by the daemon for as long as it lives (``flock``), so a stale file locks nobody out."""
        return self.run / "lock"

    @property
    def log(self) -> Path:
        """The daemon's log."""
        return self.root / "logs" / "stead.log"

    @property
    def request_log(self) -> Path:
        """What the door was asked, if that is kept."""
        return self.log.with_name("requests.jsonl")

    @property
    def metrics_token(self) -> Path:
        """The bearer of the figures for Prometheus, 0600."""
        return self.root / "metrics-token"

    def make(self) -> None:
        """Create the folders, for the owner only."""
        for folder in (self.root, self.data, self.views, self.run, self.log.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)


class Settings(NamedTuple):
    """The boot settings of ``config.toml``.

    Args:
        key_source: where the database key is: "file", "keyring" or "passphrase".
        port: of the page and the API, on 127.0.0.1; 0 picks a free one at first start and keeps it.
        webhook_port: of the listener for webhooks alone, on 127.0.0.1, which is open while a trigger waits for one or a
            channel is sent requests; as ``port``.
        webhook_url: how those reach that listener who send webhooks, such as "https://hooks.example.com"; "" where only
            this computer does.
        public_url: how the page is reached from outside, such as "https://stead.example.com", by a proxy of yours with
            TLS that leads to ``public_port``; "" for not at all. Who comes in that way signs in by a passkey.
        public_port: of the listener for that proxy, on 127.0.0.1; as ``port``.
        machine: "auto" uses bubblewrap; "off" switches shell and code off.
        discover: "auto" looks for model servers on this computer at the start; "off" does not.
        embedder: "auto" finds memories by meaning too, with a model that runs here; "off" by names and words alone;
            "PROVIDER/MODEL" has a provider make the vectors, which is sent what is remembered.
        memory_tokens_a_day: tokens that a model may use in a day to note down what was said, 0 to 10,000,000; at 0
            only rules do, which cost nothing.
        memory_recalled: how many memories and turns a session is given with each message, 1 to 50.
        memory_fades_days: days unused after which a conclusion of Stead's own is believed less, 1 to 3,650; after three
            times as many it is recalled no longer.
        time_zone: the person's, an IANA name such as "Europe/Vienna", for days and months; "" is this computer's.
        log_level: "debug", "info", "warning" or "error".
        request_log: "on" keeps a line for each request to the page and the API, without what was asked; see
            ``stead logs --requests``.
        metrics_port: of the figures for Prometheus, on 127.0.0.1, behind the token in the home's file
            ``metrics-token``; 0 for none.
        otlp_endpoint: a collector of OpenTelemetry traces, such as "http://127.0.0.1:4318"; by http on this computer
            alone. It is sent names, counts and times, no words. "" for none. Needs the extra ``otel``.
        approval_ttl_s: seconds until an unanswered question lapses, 60 to 30 days.
        max_live_sessions: sessions that work at the same time, 1 to 1,000.
        audit_heads: the file that gets the copy of the journal's signed heads, an absolute path, best on another disk;
            "" keeps it in the home.
        memory_folder: the folder of the files of memory, an absolute path outside every workspace; "" keeps them in the
            home.
        changes: "auto" keeps what a command changes apart in an overlay where one can be laid, else in a copy of the
            folder; "copy" always in a copy.
        archive_after_days: days after which the record of a session at rest is moved into an archive, out of the
            journal and the search, 0 to 36,500; at 0, never.
        updates: where releases are looked for when you ask (`stead upgrade --check`), an https address or an absolute
            path; "" for nowhere. Stead never asks by itself.
        toolchains: "auto" shows machines the toolchains on this computer, read-only (pyenv, uv, nvm, rustup and such);
            "off" shows those in ``/usr`` alone.
        toolchain_folders: further ones, a list of absolute paths; programs are in their ``bin``, or in themselves.
        machine_memory_mb: memory of one machine, 256 to 1,048,576; past it its processes are ended.
        machine_processes: processes and threads of one machine, 64 to 32,768.
        machine_open_files: open files of a process, 256 to 1,048,576.
        machine_file_mb: the largest file that can be written, 16 to 1,048,576.
        machine_free_disk_mb: what a machine leaves free on the disk, 64 to 1,048,576.
    """

    key_source: Literal["file", "keyring", "passphrase"] = "file"
    port: int = 0
    webhook_port: int = 0
    webhook_url: str = ""
    public_url: str = ""
    public_port: int = 0
    machine: Literal["auto", "off"] = "auto"
    discover: Literal["auto", "off"] = "auto"
    embedder: str = "auto"
    memory_tokens_a_day: int = 20_000
    memory_recalled: int = 10
    memory_fades_days: int = 60
    time_zone: str = ""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    request_log: Literal["off", "on"] = "off"
    metrics_port: int = 0
    otlp_endpoint: str = ""
    approval_ttl_s: int = 7 * 24 * 3600
    max_live_sessions: int = 64
    audit_heads: str = ""
    memory_folder: str = ""
    changes: Literal["auto", "copy"] = "auto"
    archive_after_days: int = 0
    updates: str = ""
    toolchains: Literal["auto", "off"] = "auto"
    toolchain_folders: tuple[str, ...] = ()
    machine_memory_mb: int = 4096
    machine_processes: int = 512
    machine_open_files: int = 4096
    machine_file_mb: int = 2048
    machine_free_disk_mb: int = 512
    unknown: tuple[str, ...] = ()


_CHOICES: dict[str, tuple[str, ...]] = {
    "key_source": ("file", "keyring", "passphrase"),
    "machine": ("auto", "off"),
    "discover": ("auto", "off"),
    "changes": ("auto", "copy"),
    "toolchains": ("auto", "off"),
    "log_level": ("debug", "info", "warning", "error"),
    "request_log": ("off", "on"),
}
_ZONE = r"[A-Z][A-Za-z0-9_+-]{1,31}(/[A-Z][A-Za-z0-9_+-]{1,31}){0,2}"
_TEXTS = {
    "embedder": (r"auto|off|[a-z0-9-]{1,32}/\S{1,200}", 'give "auto", "off" or "PROVIDER/MODEL"'),
    "otlp_endpoint": (
        r"((http://(127\.0\.0\.1|localhost|\[::1\])|https://[A-Za-z0-9.-]{1,253})(:\d{1,5})?(/[\w./-]{0,200})?)?",
        'give "http://127.0.0.1:PORT", or "https://HOST:PORT" elsewhere, or ""',
    ),
    "public_url": (
        r"(https://(?=[^:]{1,253}(:|$))([a-z0-9-]{1,63}\.)+(?!localhost)[a-z][a-z0-9-]{1,62}(:[1-9]\d{0,4})?)?",
        'give "https://HOST" or "https://HOST:PORT" with a name in small letters, none of localhost, or ""',
    ),
    "updates": (r"|/.*|https://\S{1,500}", "give an absolute path or an https address"),
    "webhook_url": (
        r"(https?://[A-Za-z0-9.-]{1,253}(:\d{1,5})?)?",
        'give "https://HOST", as those reach it who send webhooks, or ""',
    ),
}
"""What the whole of a value matches, and what to give instead."""
_PATHS = ("audit_heads", "memory_folder")
_RANGES = {
    "port": (0, 65535),
    "metrics_port": (0, 65535),
    "webhook_port": (0, 65535),
    "public_port": (0, 65535),
    "approval_ttl_s": (60, 30 * 24 * 3600),
    "max_live_sessions": (1, 1000),
    "memory_tokens_a_day": (0, 10_000_000),
    "memory_recalled": (1, 50),
    "memory_fades_days": (1, 3650),
    "archive_after_days": (0, 36_500),
    "machine_memory_mb": (256, 1 << 20),
    "machine_processes": (64, 32_768),
    "machine_open_files": (256, 1 << 20),
    "machine_file_mb": (16, 1 << 20),
    "machine_free_disk_mb": (64, 1 << 20),
}


def find_home() -> Home:
    """``$STEAD_HOME``, else ``~/.stead``."""
    chosen = os.environ.get("STEAD_HOME")
    return Home(Path(chosen).expanduser().absolute() if chosen else Path.home() / ".stead")


def load_settings(home: Home) -> Settings:
    """Read ``config.toml``; a missing file gives the defaults.

    Raises:
        InvalidRequest: it is not TOML, or a value is out of its range; the text names the key and what it may be.
    """
    if not home.settings.exists():
        return Settings()
    import tomllib  # takes 12 ms, which no command of the terminal should wait for

    try:
        values = tomllib.loads(home.settings.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"{str(home.settings)!r} is not valid TOML: {error}; fix or remove it") from error
    kinds = (_CHOICES, _RANGES, _PATHS, _TEXTS, ("toolchain_folders", "time_zone"))
    known = {name: value for name, value in values.items() if any(name in kind for kind in kinds)}
    for name, value in known.items():
        given = f"{name} = {value!r} in {str(home.settings)!r}"
        if name in _CHOICES and value not in _CHOICES[name]:
            raise InvalidRequest(f"{given}: choose one of {_CHOICES[name]}")
        if name in _PATHS and not (isinstance(value, str) and (not value or Path(value).is_absolute())):
            raise InvalidRequest(f"{given}: give an absolute path")
        if name in _TEXTS and not (isinstance(value, str) and re.fullmatch(_TEXTS[name][0], value)):
            raise InvalidRequest(f"{given}: {_TEXTS[name][1]}")
        if name == "time_zone" and not _is_zone(value):
            raise InvalidRequest(f'{given}: give an IANA name such as "Europe/Vienna", or "" for this computer\'s zone')
        if name == "toolchain_folders":
            if not isinstance(value, list) or not all(isinstance(path, str) and os.path.isabs(path) for path in value):
                raise InvalidRequest(f"{given}: give a list of absolute paths")
            known[name] = tuple(value)
        if name in _RANGES:
            low, high = _RANGES[name]
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise InvalidRequest(f"{given}: give {low} to {high}")
    return Settings(**known, unknown=tuple(sorted(set(values) - set(known))))


def use_time_zone(settings: Settings) -> None:
    """Make the person's zone that of this process: whatever names a day, a month or an hour then names the person's.

    A process has one zone, so there cannot be two notions of it (ADR 0049). Machines are given it as their own.
    """
    if settings.time_zone:
        os.environ["TZ"] = settings.time_zone
        time.tzset()


def zone_name() -> str:
    """The IANA name of this process's zone; "UTC" where the host does not say."""
    named = os.environ.get("TZ", "").lstrip(":") or os.path.realpath("/etc/localtime").partition("zoneinfo/")[2]
    return named if _is_zone(named) and named else "UTC"


def _is_zone(value: object) -> bool:
    """Whether a value is "" or a zone that this computer's own database has; the C library reads no other."""
    from zoneinfo import TZPATH  # takes time that no command of the terminal should wait for

    named = isinstance(value, str) and re.fullmatch(_ZONE, value)
    return value == "" or bool(named and any(os.path.isfile(f"{folder}/{value}") for folder in TZPATH))


def ask_passphrase() -> str:
    """The passphrase of the home's key, from the file that ``$STEAD_PASSPHRASE_FILE`` names, else from the terminal.

    Raises:
        InvalidRequest: neither is there.
    """
    import getpass  # few keep it so
    import sys

    if named := os.environ.get("STEAD_PASSPHRASE_FILE"):
        return Path(named).read_text("utf-8").rstrip("\r\n")
    if not sys.stdin.isatty():
        raise InvalidRequest(
            "the key is kept under a passphrase: name a file that holds it in STEAD_PASSPHRASE_FILE, "
            "or start with `stead up --foreground` in a terminal"
        )
    return getpass.getpass("Passphrase of this home: ")


@contextlib.contextmanager
def sole_daemon(home: Home) -> Iterator[None]:
    """Hold the home's lock. The kernel drops it with the process, so that a crash locks nobody out.

    Raises:
        Conflict: another daemon serves the home.
    """
    import fcntl  # the command line has no use for it

    with open(os.open(home.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Conflict(f"another daemon serves {str(home.root)!r} already; see `stead status`") from error
        yield


def missing_extra(extra: str, who_needs: str) -> str:
    """What to do where an extra of Stead's package is not installed; "" where it is, or there is no such extra.

    Args:
        extra: its name.
        who_needs: begins the sentence, such as "it needs".
    """
    from importlib import metadata  # slow to import, and seldom needed

    wanted = [line for line in metadata.requires("stead") or () if f"extra == '{extra}'" in line.replace('"', "'")]
    for line in wanted if extra else ():
        name = re.match(r"[A-Za-z0-9._-]+", line)
        try:
            metadata.version(name[0] if name else line)
        except metadata.PackageNotFoundError:
            way = install_command(*(one.partition(";")[0].strip() for one in wanted))
            return f"{who_needs} the extra {extra!r}, which is not installed; {way}"
    return ""


def install_command(*packages: str) -> str:
    """The command that installs packages where this program is: by its own pip, or by uv where it has none."""
    import shlex
    from importlib.util import find_spec

    python, wanted = shlex.quote(sys.executable), " ".join(map(shlex.quote, packages))
    if find_spec("pip"):
        return f"{python} -m pip install {wanted}"
    own = os.path.join(os.path.dirname(sys.prefix), ".uv", "bin", "uv")
    uv = shlex.quote(own) if os.path.exists(own) else "uv"
    return f"{uv} pip install --compile-bytecode --python {python} {wanted}"
