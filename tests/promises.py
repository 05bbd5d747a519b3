"""What Stead promises: every capability of the feature table, the door it is reached by, and whether it is kept yet.

A test over the real wire claims a promise with ``@promise("OBJ-1.pause")``. ``tests/test_promises.py`` fails on an
unknown id, and on a promise marked done that no collected test claims. ``make promises`` prints where things stand.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import pytest

Door = Literal["cli", "api", "page", "terminal", "channel", "editor", "mcp", "gateway", "file"]

_FEATURE_TABLE = """
OBJ-1 OBJ-2 OBJ-3 OBJ-4 OBJ-5 OBJ-6 OBJ-7 OBJ-8 OBJ-9 OBJ-10 SES-1 SES-2 SES-3 SES-4 SES-5 SES-6 SEC-1 SEC-2 SEC-3
SEC-4 SEC-5 SEC-6 SEC-7 SEC-8 SEC-9 SEC-10 SEC-11 SEC-12 SEC-13 LLM-1 LLM-2 LLM-3 LLM-4 LLM-5 LLM-6 LLM-7 MEM-1 MEM-2
MEM-3 MEM-4 MEM-5 MEM-6 MEM-7 MEM-8 MEM-9 WS-1 WS-2 WS-3 WS-4 WS-5 WS-6 WS-7 DOC-1 DOC-2 DOC-3 DOC-4 DOC-5 DOC-6 DOC-7
CAN-1 CAN-2 TOOL-1 SKILL-1 SKILL-2 SKILL-3 PLUG-1 MCP-1 ACP-1 API-1 CH-1 CH-2 CH-3 CH-4 SCH-1 SCH-2 SCH-3 SCH-4 UI-1
UI-2 UI-3 TUI-1 OPS-1 OPS-2 OPS-3 OPS-4 OPS-5 OPS-6 OPS-7
"""
FEATURES = frozenset(_FEATURE_TABLE.split())

WIRE_FOLDERS = ("tests/flows/", "tests/attacks/", "tests/browser/")
"""Where a claim counts: tests that come in through a door, from a page, or attack from inside a machine."""


@dataclass(frozen=True)
class Promise:
    """One capability.

    Args:
        id: the feature's id, a dot, and a word for the capability.
        text: the capability in one sentence.
        door: how a person reaches it.
        stage: 1 for the spine that everything stands on, 0 for what is not begun.
        done: it works end to end and a test over the real wire claims it.
    """

    id: str
    text: str
    door: Door
    stage: int = 0
    done: bool = False


def promise(*ids: str) -> pytest.MarkDecorator:
    """Mark a test as the proof of these promises."""
    return pytest.mark.promise(*ids)


PROMISES: tuple[Promise, ...] = (
    # 1 Objectives
    Promise(
        "OBJ-1.fields",
        "an objective carries title, goal, constraints, allowed tools, models and budget",
        "api",
        stage=1,
        done=True,
    ),
    Promise(
        "OBJ-1.status",
        "its status is pending, running, waiting, paused, or one of the six ends",
        "cli",
        stage=1,
        done=True,
    ),
    Promise("OBJ-1.pause", "pausing lets what is under way finish, then holds", "cli", stage=1, done=True),
    Promise("OBJ-1.resume", "resuming goes on from the last recorded step", "cli", stage=1, done=True),
    Promise("OBJ-1.cancel", "cancelling ends it and kills what is under way", "cli", stage=1, done=True),
    Promise("OBJ-1.retry", "a failed or cancelled objective runs again with what it knows", "api", stage=1, done=True),
    Promise("OBJ-1.delete", "deleting erases what was recorded of it and keeps the chain", "api", stage=1, done=True),
    Promise("OBJ-2.plan", "a plan is made first, is kept, and the model may revise it", "cli", stage=1, done=True),
    Promise(
        "OBJ-2.steps",
        "each step shows reasoning, tool, input, output, tokens, duration and error",
        "api",
        stage=1,
        done=True,
    ),
    Promise("OBJ-10.ends", "a run ends as one of six facts, none the model's word", "cli", stage=1, done=True),
    Promise("OBJ-10.checks", "acceptance checks are typed data that Stead runs itself", "cli", stage=1, done=True),
    Promise("OBJ-10.facts", "what the record holds stands next to the model's words", "cli", stage=1, done=True),
    Promise("OBJ-10.person", "a check can be the person's own answer", "cli", stage=1, done=True),
    Promise(
        "OBJ-10.plan",
        "a plan's checks count if made before effects, and verify nothing",
        "api",
        stage=1,
        done=True,
    ),
    Promise("OBJ-10.project", "checks that a project's files name are proposed", "cli", stage=1, done=True),
    Promise("OBJ-10.verifier", "a second opinion cites events that are looked up", "cli", stage=1, done=True),
    Promise(
        "OBJ-3.evidence",
        "completion is checked against the goal with evidence from the journal",
        "cli",
        stage=1,
        done=True,
    ),
    Promise(
        "OBJ-3.constraints",
        "what an understood constraint forbids is kept by the guard",
        "cli",
        stage=1,
        done=True,
    ),
    Promise("OBJ-3.claims", "a claim with nothing behind it never ends as verified", "cli", stage=1, done=True),
    Promise(
        "OBJ-4.iterations", "at most 50 iterations, configurable, then it ends and says so", "cli", stage=1, done=True
    ),
    Promise("OBJ-4.stall", "the same tool with the same arguments three times ends it", "cli", stage=1, done=True),
    Promise("OBJ-4.repetition", "the same reply again and again ends it", "cli", stage=1, done=True),
    Promise("OBJ-4.summary", "every end state has a reason and a summary", "cli", stage=1, done=True),
    Promise("OBJ-5.tokens", "the token budget is a hard stop that is never overrun", "cli", stage=1, done=True),
    Promise("OBJ-5.money", "the money budget likewise, shown beside the tokens", "cli", stage=1, done=True),
    Promise(
        "OBJ-5.shared", "objectives racing for one daily cap of the home never overrun it", "api", stage=1, done=True
    ),
    Promise("OBJ-6.resume", "a run survives kill -9 at any instant and resumes by itself", "cli", stage=1, done=True),
    Promise("OBJ-6.sleep", "work goes on by itself after the host has slept", "cli", done=True),
    Promise(
        "OBJ-6.once", "a side effect is never silently repeated; an unknown outcome is shown", "cli", stage=1, done=True
    ),
    Promise("OBJ-7.spawn", "the agent starts subagents, each with its own tools, budget and timeout", "cli", done=True),
    Promise("OBJ-7.specialists", "specialists are files that a person can override", "file", done=True),
    Promise("OBJ-7.variables", "a specialist's template variables are filled in", "file", done=True),
    Promise("OBJ-7.narrow", "a child's tools are never wider than its parent's", "cli", done=True),
    Promise("OBJ-7.depth", "the depth of subagents is limited", "cli", done=True),
    Promise("OBJ-7.cancel", "a parent's end ends its children", "cli", done=True),
    Promise("OBJ-8.weeks", "a goal lives for weeks across restarts and idle times", "cli", done=True),
    Promise("OBJ-8.delegate", "work is delegated to an external coding agent as a tool", "cli", done=True),
    Promise("OBJ-9.routing", "status, stop, pause, approve, list and remember need no model", "cli", done=True),
    Promise("OBJ-9.schedule", "scheduling needs no model", "cli", done=True),
    Promise("OBJ-9.trust", "how strictly replies are supervised follows the model's trust tier", "cli", done=True),
    # 2 Sessions
    Promise("SES-1.chat", "a coding session on a folder streams its chat", "page", done=True),
    Promise("SES-1.files", "the folder's tree and its files are shown", "page", done=True),
    Promise("SES-1.diff", "every change by the agent is shown as a diff", "page", done=True),
    Promise("SES-1.terminal", "a live terminal of the session's machine", "page", done=True),
    Promise("SES-1.budget", "a session has a budget of its own", "page", done=True),
    Promise("SES-1.status", "a session is active, paused or closed", "page", done=True),
    Promise("SES-1.confined", "the agent sees that folder alone", "page", done=True),
    Promise("SES-2.reopen", "closing and opening again keeps the history", "page", done=True),
    Promise("SES-2.resume", "a session goes on from any checkpoint", "cli", stage=1, done=True),
    Promise("SES-2.fork", "a session is forked at any past event", "cli", stage=1, done=True),
    Promise(
        "SES-3.queue", "tool calls wait in a queue where each is accepted or rejected with a reason", "page", done=True
    ),
    Promise("SES-3.kind", "all calls of one kind are accepted at once", "page", done=True),
    Promise("SES-3.cancel", "a running call is cancelled alone", "page", done=True),
    Promise("SES-3.retry", "a call is run again on demand", "page", done=True),
    Promise("SES-3.parallel", "calls that allow it run side by side", "page", done=True),
    Promise(
        "SES-4.trimming",
        "history is trimmed to a share of the window with the cached prefix unchanged",
        "cli",
        stage=1,
        done=True,
    ),
    Promise("SES-4.persisted", "where the trimming stands survives a restart", "cli", stage=1, done=True),
    Promise("SES-4.flush", "nothing is cut that memory has not taken in", "cli", stage=1, done=True),
    Promise("SES-5.watchers", "several watchers of one session see the same live events", "api", stage=1, done=True),
    Promise("SES-5.reconnect", "a watcher that reconnects misses nothing", "api", stage=1, done=True),
    Promise("SES-5.channels", "a channel watches the same session", "channel", done=True),
    Promise(
        "SES-6.queued",
        "a message sent while the agent works is read before its next request",
        "api",
        stage=1,
        done=True,
    ),
    Promise("SES-6.interrupts", "a message may interrupt instead, as the person chooses", "page", done=True),
    # 3 Guardian and security
    Promise(
        "SEC-1.gate",
        "every built-in tool call passes the guardian, and there is no other way",
        "cli",
        stage=1,
        done=True,
    ),
    Promise("SEC-1.plugins", "so does every call of a plugin", "cli"),
    Promise("SEC-1.mcp", "so does every call of an MCP server", "cli", done=True),
    Promise("SEC-1.delegated", "so does every call of an external agent", "cli", done=True),
    Promise(
        "SEC-2.levels", "auto, once per session, every call, always with parameters shown", "cli", stage=1, done=True
    ),
    Promise(
        "SEC-2.approve",
        "a question is answered from the terminal, for once, the session or the folder",
        "cli",
        stage=1,
        done=True,
    ),
    Promise(
        "SEC-2.deny", "a refused call leads to another step; the reason is read by the model", "cli", stage=1, done=True
    ),
    Promise("SEC-2.restart", "pending questions and grants survive a restart", "cli", stage=1, done=True),
    Promise(
        "SEC-2.digest", "an answer is bound to exactly what was shown, once, and expires", "api", stage=1, done=True
    ),
    Promise("SEC-2.risk", "every call shows a risk: low, medium, high or critical", "cli", stage=1, done=True),
    Promise("SEC-2.readonly", "the readonly profile changes nothing", "cli", stage=1, done=True),
    Promise(
        "SEC-2.allow", "tools are granted ahead for one objective, and grants are taken back", "cli", stage=1, done=True
    ),
    Promise("SEC-2.patterns", "rules of a tool with allowed and blocked patterns", "cli", stage=2, done=True),
    Promise("SEC-2.overrides", "a person's standing rules override what is built in", "cli", stage=2, done=True),
    Promise("SEC-3.parsed", "shell commands are parsed to classify their risk", "cli", stage=2, done=True),
    Promise("SEC-3.obfuscation", "obfuscation raises the risk", "cli", stage=2, done=True),
    Promise("SEC-3.always", "allow once, allow always, deny, by the shape of the command", "cli", stage=2, done=True),
    Promise("SEC-4.taint", "data from untrusted sources taints what follows", "cli", stage=2, done=True),
    Promise(
        "SEC-4.destinations",
        "a tainted context reaches no destination that the person did not name",
        "cli",
        stage=2,
        done=True,
    ),
    Promise(
        "SEC-4.quarantine",
        "an untrusted text is read for typed values, and no word of it reaches the session's model",
        "cli",
        stage=2,
        done=True,
    ),
    Promise(
        "SEC-4.clearance",
        "private data goes to those providers alone that are cleared for it",
        "cli",
        stage=2,
        done=True,
    ),
    Promise("SEC-4.plan", "a plan declared while clean grants what it names", "cli", stage=2, done=True),
    Promise("SEC-5.sandbox", "tools run in namespaces, under seccomp and resource limits", "cli", stage=1, done=True),
    Promise("SEC-5.no-network", "a machine has no network", "cli", stage=1, done=True),
    Promise(
        "SEC-5.refuses",
        "where no sandbox can be made, shell and code are off and doctor explains",
        "cli",
        stage=1,
        done=True,
    ),
    Promise(
        "SEC-5.stop", "stop kills the process tree and the request at once, out of band", "cli", stage=1, done=True
    ),
    Promise(
        "SEC-5.trial",
        "changes are kept aside, looked at, and applied or thrown away, over restarts",
        "cli",
        stage=1,
        done=True,
    ),
    Promise(
        "SEC-5.protected",
        "what a person's programs act on cannot be changed, and what is planted is moved out",
        "cli",
        stage=1,
        done=True,
    ),
    Promise("SEC-5.egress", "a machine reaches allow-listed hosts through the proxy alone", "cli", stage=1, done=True),
    Promise(
        "SEC-6.paths", "a path out of the workspace is refused, and a link cannot lead out", "cli", stage=1, done=True
    ),
    Promise("SEC-6.processes", "a session's processes see and signal nobody else's", "cli", stage=1, done=True),
    Promise(
        "SEC-6.network", "no private network, metadata service or rebinding name is fetched", "cli", stage=1, done=True
    ),
    Promise("SEC-7.vault", "keys are encrypted at rest and never in an event or a log", "cli", stage=1, done=True),
    Promise("SEC-7.placeholders", "a model sees placeholders for secrets", "cli", stage=1, done=True),
    Promise(
        "SEC-7.commands",
        "secrets are added, listed, bound, unbound and removed, and never shown",
        "cli",
        stage=1,
        done=True,
    ),
    Promise(
        "SEC-7.pasted",
        "a value of the vault in a person's words becomes its placeholder",
        "cli",
        stage=1,
        done=True,
    ),
    Promise(
        "SEC-7.detected",
        "what looks like a secret is taken out of what tools give back",
        "cli",
        stage=1,
        done=True,
    ),
    Promise("SEC-7.tool", "a tool gets a value in the argument that it is bound to", "cli", stage=1, done=True),
    Promise("SEC-7.restart", "secrets and their bindings survive a restart and a kill", "cli", stage=1, done=True),
    Promise(
        "SEC-7.bound",
        "a secret is filled in at the edge, for its bound destinations only",
        "cli",
        stage=1,
        done=True,
    ),
    Promise("SEC-7.redaction", "everything that leaves is redacted", "cli", stage=1, done=True),
    Promise(
        "SEC-8.screening",
        "inbound text is screened for hidden characters and known injections, and the person is told",
        "cli",
        stage=2,
        done=True,
    ),
    Promise(
        "SEC-8.marked", "what others wrote reaches a model between marks that it cannot fake", "cli", stage=2, done=True
    ),
    Promise(
        "SEC-8.cleaning",
        "reports are cleaned of internal blocks, remote images, misleading links and secrets",
        "cli",
        stage=2,
        done=True,
    ),
    Promise("SEC-8.identity", "a reply to a channel does not name the model behind it", "channel", done=True),
    Promise(
        "SEC-9.loopback",
        "the daemon listens on 127.0.0.1 alone, at a random port that is kept",
        "api",
        stage=1,
        done=True,
    ),
    Promise("SEC-9.sign-in", "a one-time code signs the browser in; no default password", "page", stage=1, done=True),
    Promise("SEC-9.host", "a foreign Host or Origin is refused", "api", stage=1, done=True),
    Promise("SEC-9.csrf", "a forged request of another page changes nothing", "api", stage=1, done=True),
    Promise("SEC-9.rate", "sign-in attempts are rate limited", "api", stage=1, done=True),
    Promise("SEC-9.csp", "the page runs under a strict content policy", "page", stage=1, done=True),
    Promise("SEC-9.cookie", "a server that an agent starts never receives the cookie", "page", stage=1, done=True),
    Promise(
        "SEC-10.recorded", "every decision and execution is in the journal, hash-chained", "cli", stage=1, done=True
    ),
    Promise(
        "SEC-10.verify", "one command verifies everything, with a daemon or without one", "cli", stage=2, done=True
    ),
    Promise("SEC-10.signed", "its head is signed and kept in a second place", "cli", stage=2, done=True),
    Promise("SEC-10.export", "others verify an export of it without Stead's keys", "cli", stage=2, done=True),
    Promise(
        "SEC-10.log",
        "each decision tells what, why, by which rule, who approved it and through which door",
        "cli",
        stage=2,
        done=True,
    ),
    Promise("SEC-11.encrypted", "the database is encrypted at rest", "cli", stage=1, done=True),
    Promise("SEC-11.backup", "a backup is one file under a passphrase, one command", "cli", stage=1, done=True),
    Promise("SEC-11.restore", "it restores on another machine with its passphrase", "cli", stage=1, done=True),
    Promise("SEC-11.key", "where the key is and what that protects is said plainly", "cli", stage=1, done=True),
    Promise(
        "SEC-13.history",
        "every recorded verdict comes out again, and a change of policy is tried on the home's own history",
        "cli",
        stage=3,
        done=True,
    ),
    Promise(
        "SEC-13.autonomy",
        "what is asked, how it is answered and what is allowed ahead is shown, with proposals of rules",
        "cli",
        stage=3,
        done=True,
    ),
    Promise("SEC-12.webhooks", "a separate listener serves webhooks and nothing else", "api", done=True),
    Promise("SEC-12.tls", "the page is reached from outside behind TLS", "page", done=True),
    Promise("SEC-12.pairing", "a phone is paired with a passkey", "page", done=True),
    Promise(
        "SEC-13.sentences", "a sentence fills in a rule's form only where its meaning is certain", "cli", done=True
    ),
    Promise("SEC-13.refused", "a sentence that is not understood whole makes no rule", "cli", done=True),
    Promise("SEC-13.sides", "a rule says inside or outside of a set, by the role of an argument", "cli", done=True),
    Promise("SEC-13.allowances", "an allowance covers no more than it names", "cli", done=True),
    Promise("SEC-13.confirmed", "a sentence holds only once its reading was confirmed", "cli", done=True),
    Promise("SEC-12.guides", "guides for a reverse proxy and a VPN are tested", "file", done=True),
    # 4 Providers and budgets
    Promise("LLM-1.anthropic", "Anthropic's API is spoken", "cli", stage=1, done=True),
    Promise("LLM-1.openai", "OpenAI's API is spoken", "cli", stage=1, done=True),
    Promise("LLM-1.compatible", "any OpenAI-compatible URL serves", "cli", stage=1, done=True),
    Promise("LLM-1.ollama", "a local Ollama is found by itself", "cli", stage=1, done=True),
    Promise("LLM-1.google", "Google is reached by its OpenAI-compatible URL", "cli", stage=1, done=True),
    Promise("LLM-1.google-native", "Google's own wire is spoken, without an extra", "cli", stage=1, done=True),
    Promise("LLM-1.presets", "presets name the vendors' addresses and models", "cli", stage=1, done=True),
    Promise(
        "LLM-1.test",
        "a provider is tested by one real, tiny request, which lists its models",
        "cli",
        stage=1,
        done=True,
    ),
    Promise("LLM-1.switch", "the default model is switched at run time", "cli", stage=1, done=True),
    Promise("LLM-1.env-key", "a key is taken from the environment by name", "cli", stage=1, done=True),
    Promise("LLM-1.vault-key", "a key is put into the vault", "cli", stage=1, done=True),
    Promise("LLM-1.keychain", "a key is a keychain entry", "cli", done=True),
    Promise(
        "LLM-2.rate-limit", "a provider that is out of quota is followed by the fallback", "cli", stage=1, done=True
    ),
    Promise("LLM-2.outage", "likewise one that is down or stalls", "cli", stage=1, done=True),
    Promise(
        "LLM-2.bad-output",
        "after nonsense or a cut-off reply the next request starts at the next model",
        "cli",
        stage=1,
        done=True,
    ),
    Promise("LLM-2.probes", "health probes lead back to the default", "cli", done=True),
    Promise(
        "LLM-3.valid",
        "message sequences are valid for every provider, each call with one result",
        "api",
        stage=1,
        done=True,
    ),
    Promise("LLM-3.orphans", "orphaned calls and results never reach the wire", "api", stage=1, done=True),
    Promise("LLM-4.marks", "prompt-cache marks are set", "api", stage=1, done=True),
    Promise("LLM-4.share", "the share of cached tokens is reported", "cli", stage=1, done=True),
    Promise("LLM-5.by-day", "usage by day and model", "cli", stage=1, done=True),
    Promise("LLM-5.by-what", "usage by session, objective, schedule, channel and hour", "page", done=True),
    Promise(
        "LLM-5.forecast", "the likely cost of a run from one's own history, with its calibration", "cli", done=True
    ),
    Promise("LLM-5.daily", "a daily cap in tokens and money", "api", stage=1, done=True),
    Promise("LLM-5.schedules", "schedules that come due at once never pass a cap", "api", done=True),
    Promise("LLM-5.warnings", "shares of a cap are told once a period; a cap of 0 lets nothing run", "cli", done=True),
    Promise("LLM-5.monthly", "a monthly cap in tokens and money", "page", done=True),
    Promise("LLM-5.channel", "usage of each channel, and caps of a channel or one chat", "channel", done=True),
    Promise("LLM-7.unpriced", "a model without a known price runs, and only the tokens bind it", "cli", done=True),
    Promise("LLM-7.settings", "price, window, headers, parameters and effort are set per model", "cli", done=True),
    Promise("LLM-7.roles", "roles have models of their own", "cli", done=True),
    Promise("LLM-7.switch", "the model and the effort are switched in a running session", "cli", done=True),
    Promise("LLM-7.accounts", "further accounts of a vendor are asked when one is out of quota", "cli", done=True),
    Promise("LLM-7.repair", "nearly well-formed calls are repaired and recorded as that", "api", done=True),
    Promise("LLM-7.wires", "one picture and PDF go to every vendor, the prefix stays", "api", stage=1, done=True),
    Promise("LLM-7.metadata", "pictures lose their metadata", "api", stage=1, done=True),
    Promise("LLM-7.refused", "a provider that refuses pictures is told their names", "api", stage=1, done=True),
    Promise("LLM-7.named", "what a model is not shown is named", "api", stage=1, done=True),
    Promise("LLM-7.limits", "large pictures are scaled in a machine, PDFs counted there", "api", stage=1, done=True),
    Promise(
        "LLM-7.message", "a person's message carries pictures, kept once and erased with it", "api", stage=1, done=True
    ),
    Promise("LLM-7.read", "read and browser_shot show the model what they read", "api", stage=1, done=True),
    Promise("LLM-7.door", "the door gives out pictures that run nothing", "api", stage=1, done=True),
    Promise("LLM-6.rehearsal", "without a key the labelled rehearsal model does real work", "cli", stage=1, done=True),
    Promise("LLM-6.local", "without a key a local model server is used", "cli", stage=1, done=True),
    # 5 Memory
    Promise(
        "MEM-1.types",
        "memories are knowledge, pattern, preference, context, skill, correction, episode, person or procedure",
        "page",
    ),
    Promise("MEM-1.provenance", "every memory points to the events it came from", "page", stage=6, done=True),
    Promise("MEM-2.keys", "facts have canonical keys and semantic duplicates are merged", "page", stage=6, done=True),
    Promise("MEM-2.supersession", "a newer fact supersedes an older one", "page", stage=6, done=True),
    Promise("MEM-2.past", "asking about the past gives the past's answer", "cli", stage=6, done=True),
    Promise("MEM-3.hybrid", "retrieval by words and vectors, with an offline embedder", "cli", stage=6, done=True),
    Promise("MEM-3.prompt", "the ten best go into the prompt, pinned ones always", "cli", stage=6, done=True),
    Promise("MEM-3.counts", "accesses are counted", "page", stage=6, done=True),
    Promise("MEM-3.quiet", "failed runs, announced steps and repetitions are not told", "cli", stage=6, done=True),
    Promise("MEM-3.preview", "what a query would retrieve is previewed", "page", stage=6, done=True),
    Promise("MEM-4.extraction", "memories are extracted after a run", "cli", stage=6, done=True),
    Promise("MEM-4.patterns", "patterns are detected and promoted", "cli", stage=6, done=True),
    Promise("MEM-4.decay", "unused memories decay and expire", "cli", stage=6, done=True),
    Promise(
        "MEM-5.files", "soul, user, memory and journal files a person can read and edit", "file", stage=6, done=True
    ),
    Promise("MEM-5.both-ways", "edits flow both ways", "file", stage=6, done=True),
    Promise(
        "MEM-5.soul", "the agent proposes changes of soul.md, never from tainted sources", "file", stage=6, done=True
    ),
    Promise("MEM-6.scopes", "nothing crosses from one scope into another", "cli", done=True),
    Promise(
        "MEM-6.strangers",
        "strangers' words take no memory's place, and are told to no session that did not ask for them",
        "cli",
        done=True,
    ),
    Promise("MEM-7.batch", "many things are remembered at once", "cli", stage=6, done=True),
    Promise("MEM-7.forget", "forgetting by exact, case-insensitive or fuzzy match", "cli", stage=6, done=True),
    Promise("MEM-7.proof", "proof that it is gone everywhere", "cli", stage=6, done=True),
    Promise("MEM-8.search", "memories are searched and filtered", "page", stage=6, done=True),
    Promise("MEM-8.edit", "memories are edited, pinned and deleted in bulk", "page", stage=6, done=True),
    Promise("MEM-8.export", "memories are exported and imported", "page", stage=6, done=True),
    Promise("MEM-8.analytics", "analytics over memories", "page", stage=6, done=True),
    Promise("MEM-9.directives", "directives are ordered and switched on and off, live", "page", stage=6, done=True),
    Promise("MEM-9.templates", "directives start from templates and seeded defaults", "page", stage=6, done=True),
    Promise("MEM-9.preview", "the composed prompt is previewed", "page", stage=6, done=True),
    Promise("MEM-9.history", "versions of a directive are kept and compared", "page", stage=6, done=True),
    # 6 Workspaces, machines, documents, canvas
    Promise(
        "WS-1.owns",
        "a workspace owns its files, machine, rows, memory, documents, canvas, secrets and schedules",
        "page",
    ),
    Promise("WS-1.apart", "nothing crosses from one workspace into another", "page"),
    Promise("WS-1.templates", "templates for common kinds", "page"),
    Promise("WS-2.persists", "a workspace's machine keeps files and installed packages", "cli"),
    Promise("WS-2.sleeps", "it sleeps when idle and wakes on use", "cli"),
    Promise("WS-2.golden", "it is made lazily from a golden template", "cli"),
    Promise("WS-2.services", "it runs services with a port preview", "page", stage=6, done=True),
    Promise("WS-3.checkpoint", "checkpoints of files and session together", "cli", stage=1, done=True),
    Promise("WS-3.restore", "restore in an instant", "cli", stage=1, done=True),
    Promise("WS-4.local", "the local sandbox driver passes the conformance suite", "cli"),
    Promise("WS-4.container", "so does the container engine driver", "cli"),
    Promise("WS-4.kubernetes", "so does the Kubernetes driver", "cli"),
    Promise("WS-4.sprites", "so does the Sprites driver", "cli"),
    Promise("WS-5.gateway", "the gateway authenticates, routes and wakes", "gateway"),
    Promise("WS-5.replay", "it buffers, replays and keeps alive", "gateway"),
    Promise("WS-5.revoked", "it drops revoked sessions", "gateway"),
    Promise("WS-5.many", "it is stateless and there are many", "gateway"),
    Promise("WS-6.cause", "every event that a command causes carries the command's id", "api", stage=1, done=True),
    Promise("WS-6.messages", "the older message set maps onto commands and events at a socket", "gateway"),
    Promise("WS-7.sign-in", "users sign in by OIDC", "page"),
    Promise("WS-7.apart", "users have workspaces of their own", "page"),
    Promise("WS-7.keys", "own keys or the platform's", "page"),
    Promise("WS-7.tiers", "tiers bound what a user may spend", "page"),
    Promise("DOC-1.upload", "documents of up to 25 MB are dropped in", "page"),
    Promise("DOC-1.kinds", "PDF, images, Office, CSV and mail", "page"),
    Promise("DOC-1.status", "their status is shown live", "page"),
    Promise("DOC-2.text", "text and OCR locally", "page"),
    Promise("DOC-2.provider", "or by a provider's PDF input or OCR", "page"),
    Promise("DOC-2.cached", "text is cached", "page"),
    Promise("DOC-3.schema", "extraction to a schema, automatic or custom", "page"),
    Promise("DOC-3.place", "each value has a confidence and a place on the page", "page"),
    Promise("DOC-3.validation", "sums, dates and duplicates are checked", "page"),
    Promise("DOC-4.live", "tables over many documents fill live", "page"),
    Promise("DOC-4.corrections", "a correction is applied, remembered and used next time", "page"),
    Promise("DOC-5.csv", "export as CSV and JSON", "page"),
    Promise("DOC-5.xlsx", "export as XLSX", "page"),
    Promise("DOC-5.pdf", "export as a PDF report", "page"),
    Promise("DOC-6.accounting", "results go on to accounting under the gate", "page"),
    Promise("DOC-6.sheets", "results go on to a spreadsheet service under the gate", "page"),
    Promise("DOC-6.mail", "results go on by mail under the gate", "page"),
    Promise("DOC-7.organise", "stacks, display names, tags and summaries", "page"),
    Promise("DOC-7.search", "full-text search", "page"),
    Promise("DOC-7.questions", "questions across documents are answered with cited places", "page"),
    Promise("CAN-1.view", "the canvas pans, zooms and snaps to a grid", "page"),
    Promise("CAN-1.windows", "document, table, notes and chart windows", "page"),
    Promise("CAN-1.agent", "the agent opens, updates and closes windows", "page"),
    Promise("CAN-1.person", "the person opens, moves, resizes, edits and closes them", "page"),
    Promise("CAN-1.layout", "a taskbar; the layout is kept", "page"),
    Promise("CAN-2.state", "the agent knows the canvas at the session's start", "page"),
    Promise("CAN-2.interactions", "and what the person does on it", "page"),
    # 7 Tools, skills, plugins, protocols
    Promise("TOOL-1.shell", "shell", "cli", stage=1, done=True),
    Promise("TOOL-1.read", "read a file", "cli", stage=1, done=True),
    Promise("TOOL-1.write", "write a file", "cli", stage=1, done=True),
    Promise("TOOL-1.edit", "edit a file", "cli", stage=1, done=True),
    Promise("TOOL-1.glob", "find files by name", "cli", stage=1, done=True),
    Promise("TOOL-1.grep", "find text in files", "cli", stage=1, done=True),
    Promise("TOOL-1.ignored", "searches leave out what git ignores and what tools make", "cli", done=True),
    Promise("TOOL-1.fetch", "fetch a web page", "cli", stage=1, done=True),
    Promise("TOOL-1.plan", "keep the plan", "cli", stage=1, done=True),
    Promise("TOOL-1.search", "search the web", "cli", done=True),
    Promise("TOOL-1.api-call", "call an API", "cli", done=True),
    Promise("TOOL-1.browser", "drive a headless browser", "cli", done=True),
    Promise("TOOL-1.spawn", "start a subagent", "cli", done=True),
    Promise("TOOL-1.memory", "remember, recall, forget", "cli"),
    Promise("TOOL-1.canvas", "work the canvas", "page"),
    Promise("TOOL-1.documents", "work with documents", "page"),
    Promise("TOOL-1.schedules", "make and change schedules", "cli", done=True),
    Promise("TOOL-1.config", "read and propose configuration", "cli", done=True),
    Promise("TOOL-1.message", "write to a chat, and send a file there", "channel", done=True),
    Promise("TOOL-1.channel-history", "read a channel's history", "channel", done=True),
    Promise("SKILL-1.triggers", "skills trigger by whole words and load on demand", "cli"),
    Promise("SKILL-1.resources", "their resources are path-guarded and size-capped", "cli"),
    Promise("SKILL-1.add", "added from a URL, inline or a registry", "cli"),
    Promise("SKILL-1.switch", "enabled, disabled, updated and removed", "cli"),
    Promise("SKILL-2.promotion", "a procedure that succeeded often becomes a skill", "cli"),
    Promise("SKILL-3.devops", "tested skills for infrastructure work", "cli"),
    Promise("SKILL-3.coding", "tested skills for coding", "cli"),
    Promise("SKILL-3.documents", "tested skills for document work", "cli"),
    Promise("SKILL-3.research", "tested skills for research", "cli"),
    Promise("PLUG-1.manifest", "a plugin's permissions are approved at install", "cli"),
    Promise("PLUG-1.scaffold", "a scaffold with tests", "cli"),
    Promise("PLUG-1.registry", "a signed registry, checked at each load", "cli"),
    Promise("PLUG-1.analysis", "static analysis before install", "cli"),
    Promise("PLUG-1.sandbox", "the same sandbox, with no access to Stead's own code or files", "cli"),
    Promise("MCP-1.stdio", "MCP servers over stdio", "cli", done=True),
    Promise("MCP-1.http", "MCP servers over HTTP with OAuth", "cli", done=True),
    Promise("MCP-1.server", "Stead's own tools as an MCP server", "mcp"),
    Promise("MCP-1.proxy", "a guarded, redacting proxy", "mcp"),
    Promise("ACP-1.agent", "editors that speak ACP are clients", "editor", done=True),
    Promise("API-1.rest", "a REST API with OpenAPI", "api", stage=1, done=True),
    Promise("API-1.stream", "an event stream over SSE and WebSocket", "api", stage=1, done=True),
    Promise(
        "API-1.idempotent", "a repeated command gives its first answer and changes nothing", "api", stage=1, done=True
    ),
    Promise("API-1.openai", "an OpenAI-compatible endpoint", "api"),
    # 8 Channels, schedules, triggers
    Promise("CH-1.telegram", "Telegram", "channel", done=True),
    Promise("CH-1.slack", "Slack", "channel", done=True),
    Promise("CH-1.discord", "Discord", "channel", done=True),
    Promise("CH-1.whatsapp", "WhatsApp", "channel", done=True),
    Promise("CH-1.signal", "Signal", "channel", done=True),
    Promise("CH-1.teams", "Teams", "channel", done=True),
    Promise("CH-1.email", "e-mail", "channel", done=True),
    Promise("CH-1.several", "several bots each, added at run time", "page", done=True),
    Promise("CH-2.pairing", "pairing by a one-time token", "channel", done=True),
    Promise("CH-2.rate", "a rate limit per channel", "channel", done=True),
    Promise("CH-2.risky", "never an automatic approval of a risky call", "channel", done=True),
    Promise("CH-2.credentials", "no credentials over a channel", "channel", done=True),
    Promise("CH-3.objective", "a new objective, its status, talk to a session", "channel", done=True),
    Promise("CH-3.approve", "approve or deny with buttons", "channel", done=True),
    Promise("CH-3.notices", "completion notices", "channel", done=True),
    Promise("CH-3.quiet", "a chat's own work keeps to its quiet hours and its digest", "channel", done=True),
    Promise("CH-3.media", "media both ways", "channel", done=True),
    Promise("CH-4.threads", "threads map to sessions", "channel", done=True),
    Promise("CH-4.privacy", "what is said in a channel stays in it", "channel", done=True),
    Promise("CH-4.test", "connectivity is tested", "page", done=True),
    Promise("SCH-1.kinds", "cron, interval and once", "cli", done=True),
    Promise("SCH-1.zones", "time zones and clock changes are right", "cli", done=True),
    Promise("SCH-1.missed", "a policy for missed runs", "cli", done=True),
    Promise("SCH-1.manage", "list, add, remove, enable, disable, trigger, history", "cli", done=True),
    Promise(
        "SCH-1.calendar", "a goal runs by the events of a calendar file, whose words permit nothing", "cli", done=True
    ),
    Promise("SCH-1.words", "times in plain words, read back with the next five", "cli", done=True),
    Promise("SCH-1.snooze", "what is due is skipped for a while, and the history says so", "cli", done=True),
    Promise("SCH-1.agenda", "what will run on the next days, by day", "page", done=True),
    Promise("SCH-1.rerun", "a run of the history is run again", "cli", done=True),
    Promise("SCH-2.heartbeat", "it wakes, reviews, and speaks only when there is something to say", "cli", done=True),
    Promise("SCH-3.webhooks", "signed webhooks in", "api", done=True),
    Promise("SCH-3.mail", "mail in", "channel", done=True),
    Promise("SCH-3.files", "files dropped in", "file", done=True),
    Promise("SCH-3.out", "notifications out", "channel", done=True),
    Promise(
        "SCH-4.compared",
        "files, addresses, feeds, ports, commands, calendars and mailboxes are compared without a model",
        "cli",
        done=True,
    ),
    Promise("SCH-4.change", "a change is recorded, and starts one run", "cli", done=True),
    Promise("SCH-4.untrusted", "what a watched source says has no authority", "cli", done=True),
    Promise(
        "SCH-4.bounded", "a hostile source costs bounded time and memory, and reaches nothing private", "cli", done=True
    ),
    # 9 Interfaces and operation
    Promise("UI-1.status", "a status page that is real", "page", stage=1, done=True),
    Promise("UI-1.setup", "setup and settings", "page", stage=5, done=True),
    Promise("UI-1.dashboard", "dashboard and usage", "page", stage=5, done=True),
    Promise("UI-1.objectives", "objectives are created and followed", "page", stage=5, done=True),
    Promise("UI-1.sessions", "sessions are created and worked in", "page", stage=5, done=True),
    Promise("UI-1.canvas", "canvas and documents", "page"),
    Promise("UI-1.memories", "memories and directives", "page", stage=6, done=True),
    Promise("UI-1.channels", "channels, schedules, skills and plugins", "page"),
    Promise("UI-1.audit", "audit", "page", stage=5, done=True),
    Promise("UI-2.terminal", "questions appear inline in run and watch", "cli", stage=1, done=True),
    Promise("UI-2.page", "questions appear in the page", "page", stage=5, done=True),
    Promise("UI-2.channels", "questions appear in channels", "channel"),
    Promise("UI-3.themes", "dark and light", "page", stage=5, done=True),
    Promise("UI-3.keyboard", "keyboard shortcuts", "page", stage=5, done=True),
    Promise("UI-3.responsive", "from phone to wide screen", "page", stage=5, done=True),
    Promise("UI-3.accessible", "accessible", "page", stage=5, done=True),
    Promise("UI-3.words", "every word in catalogues, for other languages", "page", stage=5, done=True),
    Promise("TUI-1.interactive", "an interactive terminal client", "terminal", done=True),
    Promise(
        "TUI-1.headless",
        "run with JSON for scripts; exit 3 and the question without a terminal",
        "cli",
        stage=1,
        done=True,
    ),
    Promise("TUI-1.dashboard", "a full-screen dashboard of what is under way", "terminal", done=True),
    Promise("TUI-1.own-line", "the person's own shell line", "terminal", done=True),
    Promise(
        "OPS-1.up",
        "up sets everything up, starts in the background, prints the link and the next command",
        "cli",
        stage=1,
        done=True,
    ),
    Promise("OPS-1.down", "down ends it in good order", "cli", stage=1, done=True),
    Promise("OPS-1.status", "status says how things stand", "cli", stage=1, done=True),
    Promise("OPS-1.logs", "logs shows the daemon's log", "cli", stage=1, done=True),
    Promise("OPS-1.doctor", "doctor says what works, what does not, and what to do", "cli", stage=1, done=True),
    Promise("OPS-1.doctor-finds", "doctor finds planted faults, and cures those it says it can", "cli", done=True),
    Promise(
        "OPS-1.one-daemon",
        "a second daemon on a home is refused; a stale lock locks nobody out",
        "cli",
        stage=1,
        done=True,
    ),
    Promise(
        "OPS-1.bad-home",
        "a foreign or damaged database and a wrong key are told apart and nothing is lost",
        "cli",
        stage=1,
        done=True,
    ),
    Promise("OPS-1.setup", "a setup wizard", "cli", done=True),
    Promise("OPS-1.auth", "setup without questions", "cli", done=True),
    Promise("OPS-1.service", "a systemd or launchd service", "cli", done=True),
    Promise("OPS-1.completion", "shell completion", "cli", done=True),
    Promise("OPS-1.macos", "macOS as far as its sandbox goes", "cli"),
    Promise("OPS-7.export", "everything that a person has set, as one file without secrets", "cli", done=True),
    Promise("OPS-7.apply", "a home becomes as a file says, after its changes were shown", "cli", done=True),
    Promise(
        "OPS-7.idempotent", "applied twice it changes nothing; cut off, the same again completes it", "cli", done=True
    ),
    Promise("OPS-7.errors", "all errors of a file are told with their lines, and nothing is applied", "cli", done=True),
    Promise("OPS-7.no-secrets", "a secret in a file is refused and never repeated", "cli", done=True),
    Promise("OPS-7.guard", "what weakens protection is listed as such and needs a yes", "cli", done=True),
    Promise("OPS-7.profiles", "models, budget, strictness and grants under a name of one's own", "cli", done=True),
    Promise("OPS-2.search", "the history is searched", "cli", stage=1, done=True),
    Promise("OPS-2.events", "one session's events", "cli", stage=1, done=True),
    Promise("OPS-2.stream", "one run's stream is followed", "cli", stage=1, done=True),
    Promise("OPS-2.open-runs", "runs that are open", "cli", stage=1, done=True),
    Promise("OPS-2.tokens", "token use", "cli", stage=1, done=True),
    Promise("OPS-2.rebuild", "read models are rebuilt from the journal by one command", "cli", stage=1, done=True),
    Promise("OPS-2.metrics", "figures for Prometheus, by choice, without names or contents", "api", done=True),
    Promise("OPS-2.traces", "spans for a collector of OpenTelemetry, by choice, without words", "api", done=True),
    Promise(
        "OPS-2.request-log", "each request to the door in a log, by choice, without what was asked", "cli", done=True
    ),
    Promise("OPS-2.repair", "runs that a crash left open are repaired at the start", "cli", stage=1, done=True),
    Promise("OPS-3.memory", "memory is imported from other agents", "cli"),
    Promise("OPS-3.skills", "skills likewise", "cli"),
    Promise("OPS-3.channels", "channels likewise", "cli"),
    Promise("OPS-4.sqlite", "one machine with SQLite", "cli", stage=1, done=True),
    Promise("OPS-4.postgres", "many machines on PostgreSQL", "api"),
    Promise("OPS-5.wheel", "a wheel that installs and runs", "cli"),
    Promise("OPS-5.archive", "a one-file archive", "cli", done=True),
    Promise("OPS-5.deb", "a Debian package", "cli", done=True),
    Promise("OPS-5.sbom", "checksums and a bill of materials", "file", done=True),
    Promise("OPS-5.script", "an install script", "cli", done=True),
    Promise("OPS-5.update", "a check for updates, by version", "cli", done=True),
    Promise(
        "OPS-5.upgrade",
        "an upgrade with a way back, gone by itself when the new version does not start",
        "cli",
        done=True,
    ),
    Promise("OPS-6.archiving", "old events are archived by policy with the chain kept", "cli", done=True),
    Promise("OPS-6.disk", "disk use is shown", "cli", done=True),
    Promise("OPS-6.transcript", "a JSONL transcript of any session", "cli", done=True),
)


def unknown(ids: Iterable[str], promises: Iterable[Promise] = PROMISES) -> list[str]:
    """Ids that no promise has, sorted."""
    return sorted(set(ids) - {promise.id for promise in promises})


def findings(promises: Iterable[Promise], features: Iterable[str], claims: Mapping[str, Iterable[str]]) -> list[str]:
    """Everything that is wrong with the table, one sentence each.

    Args:
        promises: the table.
        features: ids of the feature table, without capability.
        claims: for each id, the collected tests that claim it, as ``tests/folder/file.py::test``.
    """
    rows = tuple(promises)
    wanted = set(features)
    flaws = [f"{id!r} stands twice in the table" for id, times in Counter(row.id for row in rows).items() if times > 1]
    flaws += [f"{name!r} of the feature table has no promise" for name in wanted - {_feature(row.id) for row in rows}]
    flaws += [f"{row.id!r} is of no feature in the table" for row in rows if _feature(row.id) not in wanted]
    flaws += [f"{id!r} is claimed by {sorted(claims[id])} but is no promise" for id in unknown(claims, rows)]
    for row in rows:
        tests = list(claims.get(row.id, ()))
        if row.done and not any(test.startswith(WIRE_FOLDERS) for test in tests):
            flaws.append(f"{row.id!r} is marked done, but no test in {' or '.join(WIRE_FOLDERS)} claims it")
    return sorted(flaws)


def _feature(id: str) -> str:
    return id.partition(".")[0]


def main() -> int:
    """Print what is done and what is open, by feature."""
    done = [row for row in PROMISES if row.done]
    still = [row for row in PROMISES if not row.done]
    for title, rows in (("done", done), ("open", still)):
        print(f"{title}: {len(rows)}")
        for row in rows:
            print(f"  {row.id:<24} {row.door:<9} {row.text}")
    print(f"{len(done)} done, {len(still)} open, {len(FEATURES)} features")
    return 0


if __name__ == "__main__":
    sys.exit(main())
