"""Telling the events of an objective or a session to a person: append-only lines, one a step.

Layer: cli. Every text here was written by a model, a tool or a file, and is cleaned before it is shown.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from typing import Any

from stead.cli import figures
from stead.cli.changes_telling import told_of_changes
from stead.cli.event_lines import describe
from stead.cli.output import Output, clean, clean_line, cut_line, reveal_line
from stead.cli.templates import Line, fill
from stead.client import Json

TAIL_LINES = 5
LIVE_LINES = 40
"""Lines of a running command's output that are shown as they come; its tail follows at its end."""
_SUBJECTS = ("command", "path", "url", "pattern", "query")
_WRITERS = ("write", "edit")
_LINE_LIMIT = 160
_PROGRESS_S = 2.0
_HEARD = (
    "message",
    "notice",
    "approval",
    "grant",
    "sources",
    "session",
    "changes",
    "review",
    "trial",
    "objective",
    "turn",
)
"""Kinds of events after which nothing is awaited any more."""


def subject_of(arguments: str, limit: int = 72) -> str:
    """What a call is about, on one line: its command, path, URL or pattern, else its arguments."""
    try:
        values = json.loads(arguments)
    except ValueError:
        return cut_line(arguments, limit)
    if not isinstance(values, dict):
        return cut_line(arguments, limit)
    for name in _SUBJECTS:
        if isinstance(values.get(name), str):
            return cut_line(values[name], limit)
    if isinstance(values.get("steps"), list):
        return figures.counted(len(values["steps"]), "step")
    return cut_line(json.dumps(values, ensure_ascii=False), limit) if values else ""


def model_name(ref: Json) -> str:
    """A model as ``provider/model``; the rehearsal model is always labelled for what it is."""
    return clean_line(f"{ref['provider']}/{ref['model']}") + (" (no AI)" if ref["provider"] == "rehearsal" else "")


class Narrator:
    """Writes what happens, as it happens.

    Args:
        out: where to.
        live: a person watches a terminal: stream replies and output as they come.
        verbose: tell also what the model was told of memory, not only how much.
    """

    def __init__(self, out: Output, *, live: bool, verbose: bool = False) -> None:
        self._out = out
        self._live = live
        self._verbose = verbose
        self._line_is_open = False
        self._step_is_open = ""
        self._reply = ""
        self._replied = 0
        self._said = ""
        self._calls: dict[str, tuple[str, str]] = {}
        self._whys: dict[str, str] = {}
        self._output_rest: dict[str, str] = {}
        self._output_lines: dict[str, int] = {}
        self._plan: list[Json] = []
        self._running: set[str] = set()
        self._changes: dict[str, list[Json]] = {}
        self._progress_at_s = 0.0
        self._tokens = self._usd_micros = 0
        self._price_known = True
        self.tells_changes = False
        """Events tell each change of a file, so what a call prints of its own changes is not repeated."""
        self.awaiting = ""
        """What nothing has been heard of yet: the model, or a running tool."""

    def tell(self, envelope: Json) -> None:
        """Tell one event or transient; what needs no telling is passed over."""
        body: dict[str, Any] = envelope["body"]
        match body["type"]:
            case "session.opened":
                self._lines(_opening(envelope["stream"], body))
            case "text.delta":
                self._tell_text(body)
            case "output.delta":
                self._tell_output(body)
            case "model.requested":
                self.awaiting = "the model"
            case "model.replied":
                self._tell_reply(body)
            case "model.failed":
                self._tell_failure(body)
            case "reading.replied":
                self._count(body["spend"])
            case "reading.failed":
                self._count(body["spend"])
                self._line(f"! not read ({clean_line(body['kind'])}): {clean_line(body['error'], 300)}", "yellow")
            case "plan.made":
                self._tell_plan(body["steps"], body.get("calls", []))
            case "call.judged":
                how = {"ask": ", asked because: ", "deny": ": "}.get(body["verdict"], "")
                self._whys[body["key"]] = how and f"{how}{body['reason']['text']} (rule {body['reason']['rule']})"
            case "tool.started" | "tool.finished" if body["tool"] == "plan" and body.get("outcome", "ok") == "ok":
                pass  # the plan itself has been told
            case "tool.started":
                self._start_step(body)
            case "tool.finished":
                self._finish_step(body)
            case "call.edited":
                self._calls[body["key"]] = (body["tool"], body["arguments"])
                self._lines(describe(envelope["stream"], body, self._out))
            case "file.changed" if body["key"] in self._running:
                self._changes.setdefault(body["key"], []).append(envelope)  # told when the step is
            case "progress":
                self._tell_progress(body)
            case "objective.ended":
                self._tell_end(body)
            case other:
                self._tell_rest(other, envelope)

    def skim(self, envelope: Json) -> None:
        """Take in an event that is not told, for what later ones say of it."""
        body: dict[str, Any] = envelope["body"]
        match body["type"]:
            case "model.replied" | "model.failed" | "reading.replied" | "reading.failed":
                self._count(body["spend"])
            case "plan.made":
                self._plan = body["steps"]
            case _:
                pass

    def finish_line(self) -> None:
        """End a line that is still open, before somebody else writes."""
        if self._line_is_open:
            self._out.write("\n")
            self._line_is_open = False
        self._step_is_open = ""

    @property
    def cost(self) -> str:
        """What was spent so far, as far as this narrator has seen."""
        return f"{figures.tokens(self._tokens)} tokens, {figures.money(self._usd_micros, known=self._price_known)}"

    def _line(self, text: str, style: str = "") -> None:
        self.finish_line()
        self._out.line(self._out.style(text, style) if style else text)

    def _lines(self, lines: Iterable[Line]) -> None:
        for text, style in lines:
            self._line(text, style)

    def _block(self, text: str, lines: int) -> None:
        """The last lines of a longer text, set off from ours."""
        every = clean(text).strip("\n").split("\n")
        if len(every) > lines:
            self._line(f"    | … {figures.counted(len(every) - lines, 'line')} before", "dim")
        for line in every[-lines:]:
            self._line(f"    | {line[:_LINE_LIMIT]}".rstrip(), "dim")

    def _tell_text(self, body: Json) -> None:
        self.awaiting = ""
        if not self._live or body["number"] <= self._replied or body["offset"] != len(self._reply):
            return  # a piece is missing or late: the event has the whole reply
        self._reply += body["text"]
        text = clean(body["text"])
        if text:
            if self._step_is_open:
                self.finish_line()
            self._out.write(text)
            self._line_is_open = not text.endswith("\n")

    def _tell_reply(self, body: Json) -> None:
        self.awaiting = ""
        self._count(body["spend"])
        text = "".join(part["text"] for part in body["parts"] if part["type"] == "text")
        if self._reply and text.startswith(self._reply):
            self._out.write(clean(text[len(self._reply) :]))
            self._line_is_open = True
            self.finish_line()
        elif text.strip():
            self._line(clean(text).strip("\n"))
        self._reply, self._replied, self._said = "", body["number"], text.strip()
        for part in body["parts"]:
            if part["type"] == "call":
                self._calls[part["key"]] = (part["tool"], part["arguments"])
        for attempt in body["attempts"]:
            self._line(f"  (before: {clean_line(attempt, _LINE_LIMIT)})", "dim")

    def _tell_failure(self, body: Json) -> None:
        self.awaiting = ""
        self._reply, self._replied = "", body["number"]
        self._count(body["spend"])
        wait = body["retry_after_ms"]
        again = f"; asked to wait {figures.duration(wait)}" if wait else ""
        self._line(f"! no usable reply ({clean_line(body['kind'])}): {clean_line(body['error'], 300)}{again}", "yellow")

    def _count(self, spend: Json) -> None:
        self._tokens += spend["tokens"]
        self._usd_micros += spend["usd_micros"]
        self._price_known = self._price_known and spend["price_known"]

    def _tell_plan(self, steps: list[Json], calls: list[Json]) -> None:
        if [step["title"] for step in steps] != [step["title"] for step in self._plan]:
            self._line("plan")
            for number, step in enumerate(steps, 1):
                mark = "" if step["status"] == "todo" else f" ({clean_line(step['status'])})"
                self._line(f"  {number}. {clean_line(step['title'], _LINE_LIMIT)}{mark}")
            for call in calls:
                left = "".join(f", {name} from {source}" for name, source in call.get("takes", {}).items())
                left += "".join(f", {name} up to {most:g}" for name, most in call.get("up_to", {}).items())
                self._line(f"  names {reveal_line(call['tool'] + ' ' + call['arguments'] + left)}", "dim")
        else:
            done = sum(step["status"] in ("done", "skipped") for step in steps)
            now = next((step["title"] for step in steps if step["status"] == "doing"), "")
            doing = f"; now: {clean_line(now, 100)}" if now else ""
            self._line(f"plan: {done} of {len(steps)} done{doing}", "dim")
        self._plan = steps

    def _start_step(self, body: Json) -> None:
        self._calls[body["key"]] = (body["tool"], body["arguments"])
        self._running.add(body["key"])
        self.awaiting = clean_line(body["tool"])
        if self._live:
            self.finish_line()
            self._out.write(self._heading(body["key"], body["tool"]))
            self._line_is_open, self._step_is_open = True, body["key"]

    def _heading(self, key: str, tool: str) -> str:
        tool, arguments = self._calls.get(key, (tool, ""))
        return f"> {self._out.style(clean_line(tool), 'bold')} {subject_of(arguments)}".rstrip()

    def _tell_output(self, body: Json) -> None:
        key = body["key"]
        if not self._live or self._output_lines.get(key, 0) >= LIVE_LINES:
            return
        if self.tells_changes and self._calls.get(key, ("", ""))[0] in _WRITERS:
            return
        *lines, rest = (self._output_rest.get(key, "") + body["text"]).split("\n")
        self._output_rest[key] = rest[-_LINE_LIMIT:]
        for line in lines:
            self._line(f"    | {clean_line(line, _LINE_LIMIT)}", "dim")
        self._output_lines[key] = self._output_lines.get(key, 0) + len(lines)

    def _finish_step(self, body: Json) -> None:
        self.awaiting = ""
        key, outcome = body["key"], body["outcome"]
        self._running.discard(key)
        words = {"ok": ("ok", "green"), "error": ("error", "red"), "denied": ("denied", "yellow")}
        words |= {
            "unknown": ("outcome unknown: a crash hid what became of it", "red"),
            "cancelled": ("cut off", "yellow"),
        }
        word, style = words.get(outcome, (clean_line(outcome), "red"))
        detail = f", {figures.duration(body['duration_ms'])}" if outcome in ("ok", "error") else ""
        if outcome == "denied" and (why := self._whys.pop(key, "")):
            detail = clean_line(why, 240)
        text = f"{self._out.style(word, style)}{detail}  {self._out.style(f'[{self.cost}]', 'dim')}"
        if self._step_is_open == key:
            self._out.write(f"  {text}")
            self.finish_line()
        else:
            self._line(f"{self._heading(key, body['tool'])}  {text}")
        shown = self._output_lines.pop(key, 0)
        self._output_rest.pop(key, None)
        if body["text"].strip() and (outcome == "error" or (body["tool"] == "shell" and outcome == "ok")):
            self._block(body["text"], TAIL_LINES if not shown or shown >= LIVE_LINES else 1)
        for warning in body.get("warnings", ()):
            self._line(f"    ! {clean_line(warning['text'], 300)}", "yellow")
        for change in self._changes.pop(key, ()):
            self._lines(describe(change["stream"], change["body"], self._out))

    def _tell_end(self, body: Json) -> None:
        self.awaiting = ""
        style = {"completed": "green", "failed": "red"}.get(body["status"], "yellow")
        why = "" if body["reason"] in ("done", body["status"]) else f" ({clean_line(body['reason'])})"
        self._line(f"{clean_line(body['status'])}{why}", style)
        self._lines(_summary(body["summary"], self._said))

    def _tell_progress(self, body: Json) -> None:
        """How far long work is: now and then, and never for what is done in a moment."""
        now_s = time.monotonic()
        begins = body["done"] == 0 or not self._progress_at_s
        if begins or now_s - self._progress_at_s < _PROGRESS_S or not self._live:
            self._progress_at_s = now_s if begins else self._progress_at_s
            return
        self._progress_at_s = now_s
        self._line(f"({clean_line(body['what'])}: {body['done']:,} of {body['total']:,} files)", "dim")

    def _tell_rest(self, kind: str, envelope: Json) -> None:
        body: Json = envelope["body"]
        if kind.startswith(_HEARD):
            self.awaiting = ""
        match kind:
            case "changes.landed" if self._calls.get(body["key"], ("", ""))[0] == "shell":
                return  # its output says so
            case "changes.landed" | "review.wanted" | "trial.applied" | "trial.discarded":
                self._lines(told_of_changes(envelope["stream"], body))
                return
            case "turn.ended":
                self._lines(_summary(body["summary"], self._said))
            case _:
                pass
        tool, arguments = self._calls.get(body.get("key", ""), ("a call", ""))
        call = f"{clean_line(tool)} {subject_of(arguments)}".rstrip()
        self._lines(describe(envelope["stream"], body, self._out, call=call, verbose=self._verbose))
        if kind == "turn.ended":
            self._line(f"  {self.cost} so far", "dim")


def _opening(stream: str, body: Json) -> Iterator[Line]:
    shown = {**body, "stream": stream, "models": [model_name(model) for model in body["chain"]]}
    yield fill("{stream}: {title:160}", shown), "bold"
    limit = "budget {budget.tokens:number} tokens, {budget.usd_micros:money}"
    yield fill(f"  in {{directory}}, with {{models:then}}, {limit}", shown), ""
    for constraint in body.get("constraints", ()):
        yield f"  keep: {clean_line(constraint, _LINE_LIMIT)}", ""


def _summary(text: str, said: str) -> Iterator[Line]:
    """What it sums up, unless those were its last words."""
    if text.strip() not in ("", said):
        for line in clean(text).strip("\n").split("\n"):
            yield f"  {line}".rstrip(), ""
