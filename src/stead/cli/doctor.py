"""``doctor``: everything that Stead needs, one line each, and how to fix what fails.

Layer: cli. ``--fix`` does what checks carry as their cure and nothing else; ``--bundle`` writes a report for a bug.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable

from stead import __version__
from stead.cli import cures, figures
from stead.cli.checks import Check, Verdict, home_checks, host_checks, sandbox_checks
from stead.cli.cures import Cure
from stead.cli.data_checks import data_checks
from stead.cli.forms import YES, arg, command
from stead.cli.invocation import FAILED, OK, CommandError, Invocation
from stead.cli.memory_checks import embedder_check, memory_checks
from stead.cli.output import clean_line
from stead.cli.rules_history import otherwise
from stead.cli.spending import warned_line
from stead.cli.work_checks import work_checks
from stead.client import ApiError, Client, Json, NoDaemon, find_address
from stead.config import Home

_STYLES = {"ok": "green", "warn": "yellow", "fail": "red"}
_RECOVER = "stead key recover, or restore a backup"
_SLOW_S = 0.5
_PROBE_S = 60.0


def _doctor(invocation: Invocation, arguments: Namespace) -> int:
    checks = all_checks(invocation)
    cured: list[Json] = []
    if arguments.fix:
        cured = _cured(invocation, checks, yes=arguments.yes)
        checks = all_checks(invocation) if cured else checks
    if arguments.bundle:
        from stead.cli.bundle import write

        return write(invocation, arguments.bundle, [_shown(check) for check in checks])
    failed = sum(check.verdict == "fail" for check in checks)
    if invocation.as_json:
        shown: Json = {"ok": not failed, "checks": [_shown(check) for check in checks]}
        invocation.out.json(shown | ({"fixed": cured} if arguments.fix else {}))
    else:
        _print(invocation, checks)
    return FAILED if failed else OK


def all_checks(invocation: Invocation) -> list[Check]:
    """Every check, in the order in which they are shown."""
    home = invocation.home
    checks = host_checks() + sandbox_checks() + home_checks(home) + [_key(home), embedder_check(home)]
    checks += data_checks(home)
    return checks + _daemon_checks(invocation)


def _shown(check: Check) -> Json:
    """A check as JSON."""
    bad = check.verdict != "ok"
    cure = check.cure.what if bad and check.cure else ""
    return {**check._asdict(), "fix": check.fix if bad else "", "cure": cure}


def _print(invocation: Invocation, checks: list[Check]) -> None:
    out, width = invocation.out, max(len(check.name) for check in checks)
    for check in checks:
        verdict = out.style(f"{check.verdict:<4}", _STYLES[check.verdict])
        out.line(f"{verdict}  {check.name:<{width}}  {clean_line(check.text)}")
        if check.verdict != "ok" and check.fix:
            out.line(f"      {'':<{width}}  fix: {clean_line(check.fix)}")
    failed = sum(check.verdict == "fail" for check in checks)
    warned = sum(check.verdict == "warn" for check in checks)
    out.line(f"\n{len(checks)} checks: {failed} failed, {figures.counted(warned, 'warning')}")
    if curable := sum(check.verdict != "ok" and check.cure is not None for check in checks):
        out.line(f"{curable} of them can be fixed by: stead doctor --fix")


def _cured(invocation: Invocation, checks: list[Check], *, yes: bool) -> list[Json]:
    """Do what the checks carry as cures, once the person agrees; gives what was done, and why the rest was left."""
    out = invocation.out
    faults = [check for check in checks if check.verdict != "ok"]
    planned = [check for check in faults if check.cure]
    if not invocation.as_json:
        for check in faults:
            cure = clean_line(check.cure.what) if check.cure else ""
            out.line(f"will {cure}" if cure else f"left to you: {check.name}: {clean_line(check.fix)}")
    if not planned:
        out.note("nothing is wrong that doctor can fix by itself")
        return []
    loss = f"doctor changes {figures.counted(len(planned), 'thing')}, as listed"
    invocation.confirm("fix", loss, yes=yes)
    done: list[Json] = []
    for check in planned:
        assert check.cure is not None
        why = _failure(check.cure, invocation)
        done.append({"name": check.name, "cure": check.cure.what, "done": not why, "why": why})
        if not invocation.as_json:
            out.line(f"{'left' if why else 'done'}: {check.name}{': ' + clean_line(why) if why else ''}")
    return done


def _failure(cure: Cure, invocation: Invocation) -> str:
    """Do a cure; why it could not be done, "" when it was."""
    from stead.domain.errors import SteadError

    try:
        cure.do(invocation)
    except (OSError, CommandError, ApiError, SteadError) as error:
        return str(error)
    return ""


def _key(home: Home) -> Check:
    """Where the key is and what that protects, in plain words."""
    if not home.key.exists():
        if home.journal.exists():
            return Check("key", "fail", f"{str(home.key)!r} is missing", _RECOVER)
        return Check("key", "ok", "it is made at the first start")
    from stead.domain.errors import StorageFault
    from stead.storage.keystore import source_of, statement

    try:
        return Check("key", "ok", statement(source_of(home)))
    except StorageFault as error:
        is_open = home.key.stat().st_mode & 0o077
        cure = cures.private(home.key) if is_open else None
        return Check("key", "fail", str(error), f"chmod 600 {home.key}" if is_open else _RECOVER, cure)


def _daemon_checks(invocation: Invocation) -> list[Check]:
    try:
        address = find_address(invocation.home)
    except NoDaemon as error:
        daemon = Check("daemon", "warn", error.message, "stead up", cures.started())
        return [_address(invocation.home), daemon, _port(invocation.home)]
    began = time.monotonic()
    try:
        status = invocation.client.get("/status")
        took_s = time.monotonic() - began
        status = invocation.client.post("/status/check", timeout_s=_PROBE_S)
    except NoDaemon as error:
        fix = f"see: stead logs; if ps -p {address.pid} shows Stead's daemon, kill it; then: stead up"
        return [_address(invocation.home), Check("daemon", "fail", error.message, fix)]
    except ApiError as error:
        return [_address(invocation.home), _version(invocation.client), _failing("daemon", error)]
    client = invocation.client
    return [
        _address(invocation.home),
        Check("daemon", "ok", f"process {address.pid} answers on 127.0.0.1:{address.port}"),
        _answer_time(took_s),
        _version(client),
        Check("journal", "ok", f"open, {figures.counted(status['head'], 'event')}"),
        _name(f"{address.name}.localhost"),
        *(Check(part["name"], part["verdict"], part["text"], part["fix"]) for part in status["parts"]),
        *_answered("memory", lambda: memory_checks(invocation.home, client)),
        *_answered("provider keys", lambda: _provider_checks(client, status["chain"])),
        *_answered("settings in use", lambda: work_checks(client)),
        *_answered("caps", lambda: [_cap(client)]),
        *_answered("questions", lambda: [_questions(client)]),
        *_answered("notifications", lambda: [_notifications(client)]),
        *_answered("policy", lambda: [_policy(client)]),
    ]


def _answered(name: str, ask: Callable[[], list[Check]]) -> list[Check]:
    """What the daemon's answers say; where it refuses one, on a full disk say, that is what is wrong."""
    try:
        return ask()
    except ApiError as error:
        return [_failing(name, error)]


def _failing(name: str, error: ApiError) -> Check:
    return Check(name, "fail", error.message, "see the other lines that failed; stead logs")


def _address(home: Home) -> Check:
    if not home.address.exists():
        return Check("address file", "ok", "none, as no daemon runs")
    mode = home.address.stat().st_mode & 0o777
    if mode & 0o077:
        return Check("address file", "fail", f"mode {mode:04o}: others can read the bearer", "stead down; stead up")
    try:
        find_address(home)
    except NoDaemon as error:
        return Check(
            "address file", "warn", f"left over: {error.message}", "stead up replaces it", cures.removed(home.address)
        )
    return Check("address file", "ok", f"{str(home.address)!r}, for you alone")


def _port(home: Home) -> Check:
    """Whether the port that was chosen in the settings is free."""
    import socket

    from stead.config import load_settings
    from stead.domain.errors import InvalidRequest

    try:
        port = load_settings(home).port
    except (InvalidRequest, OSError):
        port = 0
    if not port:
        return Check("port", "ok", "a free one is chosen at the first start and kept")
    with socket.socket() as probe:
        taken = probe.connect_ex(("127.0.0.1", port)) == 0
    text = f"{port} is {'taken by another program' if taken else 'free'}"
    return Check("port", "fail" if taken else "ok", text, f"choose another in {str(home.settings)!r}")


def _answer_time(took_s: float) -> Check:
    verdict: Verdict = "ok" if took_s < _SLOW_S else "warn"
    return Check("answer time", verdict, figures.duration(took_s * 1000), "see what is busy: top")


def _version(client: Client) -> Check:
    text = f"daemon {client.address.version}, command line {__version__}"
    if client.outdated:
        return Check(
            "version", "warn", f"{text}; the daemon runs the code of before an update", "stead up", cures.started()
        )
    return Check("version", "ok", text)


def _name(name: str) -> Check:
    import socket

    try:
        socket.getaddrinfo(name, None)
    except OSError:
        text = f"{name} is not resolved by this system; Chromium and Firefox do it by themselves"
        return Check("page's name", "ok", text)
    return Check("page's name", "ok", f"{name} resolves")


def _provider_checks(client: Client, chain: list[Json]) -> list[Check]:
    """Whether each provider has the key that it needs, and what those that new work uses say to it."""
    rows = list(client.items("/providers"))
    without = [row for row in rows if row["key"] == "missing" or row["key"].endswith("(not set)")]
    names = ", ".join(f"{row['name']} ({row['key']})" for row in without)
    if without:
        first = without[0]["name"]
        return [Check("provider keys", "fail", f"no key: {names}", f"stead providers set-key {first}, or export it")]
    used = {ref["provider"] for ref in chain}
    checks = [Check("provider keys", "ok", f"{figures.counted(len(rows), 'provider')}, none without a key it needs")]
    for name in [row["name"] for row in rows if row["name"] in used and row["preset"] != "rehearsal"]:
        tried = client.post(f"/providers/{name}/test", timeout_s=_PROBE_S)
        verdict: Verdict = "ok" if tried["ok"] else "fail"
        checks.append(Check(f"provider {name}", verdict, clean_line(tried["text"]), tried["fix"]))
    return checks


def _cap(client: Client) -> Check:
    caps = client.get("/cap")
    if {*caps["daily"].values(), *caps["monthly"].values()} == {"unlimited"}:
        return Check("caps", "warn", "none; each objective has its own budget", "stead cap --usd 10")
    said = (
        f"{figures.tokens(cap['tokens'])} tokens, {figures.money(cap['usd_micros'])} a {period}"
        for period, cap in (("day", caps["daily"]), ("month", caps["monthly"]))
    )
    if 0 in {*caps["daily"].values(), *caps["monthly"].values()}:
        return Check("caps", "warn", "a cap is 0, so that nothing may run", "stead cap --usd 10")
    warned = [warned_line(one) for one in caps["warned"][:1]]
    return Check("caps", "warn" if warned else "ok", "; ".join([*said, *warned]), "stead cap" if warned else "")


def _policy(client: Client) -> Check:
    """Whether this version decides the home's last calls as they were decided: an update may have changed that."""
    found = client.post("/rules/simulate", {"last": 500}, timeout_s=_PROBE_S)
    differing = otherwise(found)
    text = f"{figures.counted(found['verdicts'], 'verdict')} judged again, {differing} come out otherwise"
    if found["differing"]:
        return Check("policy", "fail", f"{text}, by this very version", "see them: stead rules try --json")
    return Check("policy", "warn" if differing else "ok", text, "this version decides them otherwise: stead rules try")


def _notifications(client: Client) -> Check:
    """Whether targets of notifications take what is sent."""
    rows = list(client.items("/notifications"))
    bad = [row for row in rows if row["error"] or row["why"]]
    if not bad:
        return Check("notifications", "ok", f"{figures.counted(len(rows), 'target')}, none fails")
    first, name = bad[0], bad[0]["target"]["name"]
    text = f"{figures.counted(len(bad), 'target')} of {len(rows)} fail; {name}: {first['why'] or first['error']}"
    return Check("notifications", "fail", text, f"stead notify list; stead notify test {name}")


def _questions(client: Client) -> Check:
    count = len(client.get("/approvals", status="pending", limit=500)["items"])
    if not count:
        return Check("questions", "ok", "nothing waits for your answer")
    return Check("questions", "warn", f"{figures.counted(count, 'question')} for you", "stead approvals")


COMMANDS = {
    "doctor": command(
        _doctor,
        arg("--fix", "do what doctor can do itself, after a question; list what is left, and why"),
        arg("--bundle FILE", "write a redacted archive for a bug report"),
        YES,
    )
}
