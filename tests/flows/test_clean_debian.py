"""A release on a clean Debian, without Python, started by its own systemd: by the archive and by the Debian package.

It takes minutes and root: ``make release-check``. ``STEAD_RELEASE`` and ``STEAD_DEBIAN`` name a release and a root that
are there. Each test has an account of its own.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from stead import __version__
from stead.storage.keys import recovery_key
from tests.fakes.models import Turn
from tests.fakes.webhook_senders import KEYS, delivery, send, signed
from tests.flows.clean_debian import ROOT_S, Account, CleanDebian, can_boot, make_root
from tests.flows.served import by_turn, served
from tests.promises import promise
from tests.storage import drafts

PAST = Path(__file__).parents[1] / "storage"
RUNS_S = 150.0
pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]


class Installed(NamedTuple):
    """A system that Stead comes to by one of the packages."""

    debian: CleanDebian
    package: str

    def account(self, name: str) -> Account:
        """A new account that has Stead."""
        account = self.debian.account(name)
        if self.package == "archive":
            account("sh /release/install.sh")
        assert account("stead --version") == f"stead {__version__}\n"
        return account


@pytest.fixture(scope="session")
def essential(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root that each package is tried in a copy of."""
    assert can_boot(), "it takes root, control groups of the second version, and mmdebstrap: sudo make release-check"
    if there := os.environ.get("STEAD_DEBIAN"):
        return Path(there)
    root = tmp_path_factory.mktemp("essential") / "root"
    make_root(root)
    return root


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("archive", marks=promise("OPS-5.archive", "OPS-5.script")),
        pytest.param("deb", marks=promise("OPS-5.deb")),
    ],
)
def installed(
    request: pytest.FixtureRequest, made: Path, essential: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installed]:
    root = tmp_path_factory.mktemp(f"debian-{os.getpid()}-") / "root"
    subprocess.run(["cp", "-a", "--one-file-system", essential, root], check=True, timeout=ROOT_S)
    shutil.copytree(made, root / "release")
    debian = CleanDebian(root)
    debian.boot()
    try:
        assert debian.run("command -v python3 python || echo none") == "none\n"
        if request.param == "deb":
            debian.run("dpkg -i /release/*.deb")
        yield Installed(debian, request.param)
    finally:
        debian.halt()


def until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + RUNS_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.5)


def well(account: Account, name: str) -> int:
    """How many runs of a schedule or trigger have ended."""
    return sum(bool(run.get("end")) for run in account.rows(f"schedule history {name}"))


def deliver(account: Account, id: str) -> None:
    """Send a signed webhook to where the trigger says, and wait for its run."""
    before = well(account, "builds")
    until(lambda: bool(account.json("trigger show builds")["url"]), "the listener to be open")
    url, body = account.json("trigger show builds")["url"], delivery(id)
    assert send(url, body, signed("standard", body, id))[0] == 200
    until(lambda: well(account, "builds") > before, f"the run of {id} to end")


def install_service(installed: Installed, account: Account) -> None:
    """By the archive the account's own, by the package one of the machine; its file is as systemd wants it."""
    if installed.package == "archive":
        account("stead service install")
        account("systemd-analyze --user verify ~/.config/systemd/user/stead.service 2>&1 | (! grep .)")
        return
    installed.debian.run(f"stead --home /home/{account.name}/.stead service install --system")
    installed.debian.run("systemd-analyze verify /etc/systemd/system/stead*.service 2>&1 | (! grep .)")


@promise("OPS-1.service", "SCH-3.webhooks")
def test_it_is_set_up_as_a_service_that_wakes_for_schedules_and_triggers_before_and_after_a_reboot(
    installed: Installed,
) -> None:
    ann = installed.account("ann")
    ann.write("tides/README.md", "# Tides\n")
    with served(by_turn(Turn("The tide is out."))) as model:
        given = f"--provider acme --preset compatible --url {model.openai} --model scripted"
        assert "ok      sandbox" in ann(f"stead setup --yes {given} --folder ~/tides")
        install_service(installed, ann)
        ran = ann.json("service status")
        assert (ran["UnitFileState"], ran["ActiveState"], ran["by"]) == ("enabled", "active", ran["service"])

        ann("stead schedule add tides 'Say how the tide is' --when '* * * * *' --dir ~/tides")
        ann(f"printf %s {KEYS['standard']} | stead secret add builds")
        ann("stead trigger add builds 'Say what came' --from webhook:standard --key builds --dir ~/tides")
        deliver(ann, "msg_1")
        until(lambda: well(ann, "tides") >= 1, "the schedule's first run to end")
        failed = [check for check in ann.json("doctor")["checks"] if check["verdict"] == "fail"]
        assert failed == []

        installed.debian.halt()
        installed.debian.boot()
        until(lambda: ann.json("service status || true").get("by") == ran["service"], "the service to be back")
        before = well(ann, "tides")
        deliver(ann, "msg_2")
        until(lambda: well(ann, "tides") > before, "a run of the schedule after the reboot")
    assert [row["status"] for row in ann.rows("objectives")].count("answered") >= 4
    assert "The record is whole" in ann("stead audit head >/dev/null; stead audit verify")
    uninstall = f"stead --home /home/{ann.name}/.stead service uninstall"
    if installed.package == "archive":
        ann(uninstall)
    else:
        installed.debian.run(f"{uninstall} --system")
    assert ann.json("service status || true") == {"installed": False}


@promise("OPS-7.apply")
def test_settings_applied_twice_change_nothing_and_make_an_empty_home_the_same(installed: Installed) -> None:
    ben = installed.account("ben")
    ben.write("tides/README.md", "# Tides\n")
    key = f"printf %s {KEYS['standard']} | stead secret add builds"
    ben(
        "stead setup --yes; stead cap --usd 10; stead directives add Style --text 'Answer in short sentences.'; "
        "stead profile add night --profile readonly --budget-usd 1 --host api.example.com; "
        "stead providers add acme --preset compatible --model scripted --key env:ACME_KEY --url http://127.0.0.1:9/v1; "
        "stead schedule add tides 'Say how the tide is' --when '0 7 * * 1-5' --zone Europe/Vienna --dir ~/tides; "
        f"{key}; stead trigger add builds 'Say what came' --from webhook:standard --key builds --dir ~/tides; "
        "stead export config --out first.toml"
    )
    for _ in range(2):
        assert ben.json("apply first.toml --yes") == {"changes": [], "applied": False}
    ben("stead down")
    ben(f"export STEAD_HOME=~/second; stead up; {key}; stead apply first.toml --yes; stead export config --out 2.toml")
    ben("cmp first.toml 2.toml")
    again = ben("export STEAD_HOME=~/second; stead apply first.toml --yes; stead down")
    assert "Nothing to change" in again
    text = ben("cat first.toml")
    assert all(word in text for word in ("night", "tides", "builds", "acme", "short sentences", "Europe/Vienna"))


def past_homes() -> dict[str, Path]:
    """Journals by schema: of the first two as recorded for their steps, then whole ones that old versions made."""
    first = {name: PAST / "schemas" / f"{name}.db" for name in ("0001", "0002")}
    return first | {folder.name: folder / "journal.db" for folder in sorted((PAST / "homes").iterdir())}


@pytest.fixture(scope="module")
def past(installed: Installed) -> Account:
    """The account of all old homes."""
    return installed.account("past")


@promise("OPS-5.upgrade")
@pytest.mark.parametrize("schema", past_homes())
def test_an_old_home_is_brought_over_and_goes_back_as_it_was(installed: Installed, past: Account, schema: str) -> None:
    folder = installed.debian.root / "home/past" / schema
    own_key = past_homes()[schema].parent / "key"
    past.write(f"{schema}/config.toml", 'discover = "off"\nembedder = "off"\n')
    (folder / "data").mkdir()
    shutil.copy(past_homes()[schema], folder / "data/journal.db")
    if own_key.exists():
        shutil.copy(own_key, folder / "key")
    installed.debian.run(f"chown -R past: /home/past; chmod -R go= /home/past/{schema}")
    home = f"--home ~/{schema}"
    if not own_key.exists():
        past(f"echo {recovery_key(drafts.KEYS)} | stead key recover {home}")
    before = past.json(f"audit verify {home} || true")
    past(f"stead up {home}")
    if own_key.exists():
        listed = past.json(f"objectives {home}")
        assert listed["title"].startswith("read README.md and write SUMMARY.md")
    after = past.json(f"audit verify {home} || true")
    assert (before["faults"], after["faults"]) == ([], [])
    assert after["events"] > before["events"]
    went = past.json(f"upgrade --back --yes {home}")
    assert went["set_aside"] >= after["events"] - before["events"], "and the end of the daemon"
    back = past.json(f"audit verify {home} || true")
    assert (back["events"], back["faults"]) == (before["events"], [])
    past(f"stead up {home}; stead down {home}")  # and over again


@promise("OPS-5.upgrade")
def test_the_program_is_upgraded_with_a_home_and_goes_back(installed: Installed, made: Path, tmp_path: Path) -> None:
    eve = installed.account("eve")
    eve.write("tides/README.md", "# Tides\n")
    eve("stead setup --yes; cd tides; stead run --wait 'read README.md and write SUMMARY.md with its headings'")
    before = eve.json("objectives")
    later = installed.debian.root / f"later-{installed.package}"
    later.mkdir()
    make_later(installed.package, made, later, tmp_path)
    if installed.package == "archive":
        assert eve.json(f"upgrade /{later.name}/*.tar.gz")["version"] == "9.0.0"
    else:
        installed.debian.run(f"dpkg -i /{later.name}/*.deb")
        eve("stead down; stead up")
    assert eve.json("status")["version"] == "9.0.0"
    assert eve.json("objectives") == before
    eve("stead upgrade --back --yes")
    if installed.package == "deb":
        installed.debian.run("dpkg -i /release/*.deb")
        eve("stead up")
    assert eve.json("status")["version"] == __version__
    assert eve.json("objectives") == before
    assert eve.json("audit verify || true")["faults"] == []


def make_later(package: str, made: Path, folder: Path, work: Path) -> None:
    """The same package as a later version's, with that version in its metadata and in the program."""
    tree = work / "later"
    if package == "archive":
        (archive,) = made.glob("*.tar.gz")
        tree.mkdir()
        subprocess.run(["tar", "-xzf", archive, "-C", tree], check=True)
        (tree / f"stead-{__version__}").rename(tree / "stead-9.0.0")
        renumber(tree)
        name = archive.name.replace(__version__, "9.0.0")
        subprocess.run(["tar", "-I", "gzip -1", "-cf", folder / name, "-C", tree, "stead-9.0.0"], check=True)
        digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        (folder / "SHA256SUMS").write_text(f"{digest}  {name}\n", "utf-8")
        return
    (deb,) = made.glob("*.deb")
    subprocess.run(["dpkg-deb", "-R", deb, tree], check=True)
    renumber(tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: .*", "Version: 9.0.0", control.read_text("utf-8")), "utf-8")
    subprocess.run(["dpkg-deb", "-Znone", "--root-owner-group", "-b", tree, folder / "stead_9.0.0.deb"], check=True)


def renumber(tree: Path) -> None:
    """The byte code of the file goes, since it is used without a look at the source."""
    (init,) = tree.rglob("dist-packages/stead/__init__.py")
    init.write_text(re.sub(r'__version__ = "[^"]*"', '__version__ = "9.0.0"', init.read_text("utf-8")), "utf-8")
    (compiled,) = init.parent.glob("__pycache__/__init__.*.pyc")
    compiled.unlink()
