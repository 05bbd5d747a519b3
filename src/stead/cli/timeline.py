"""A timeline at a terminal: its items as lines that are never rewritten, and what is still coming.

Layer: cli. Every text here was written by a model, a tool or a file, and is cleaned before it is shown.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import islice

from stead.cli import figures
from stead.cli.attachments import described
from stead.cli.diffs import diff_lines
from stead.cli.labels import model_name, subject_of
from stead.cli.output import Output, clean, clean_line, reveal_line
from stead.cli.templates import Line, fill, filled
from stead.client import Json
from stead.domain.event_words import changed_file, fact_words, landed, opinion_words, step_words, unpriced, worded

TAIL_LINES = 5
LIVE_LINES = 40
"""Lines of a running command's output that are shown as they come; its tail follows at its end."""
DIFF_LINES = 40
"""Lines of one change that are shown; ``stead session changes`` has them all."""
_WRITERS = ("write", "edit")
_LINE_LIMIT = 160
_PROGRESS_S = 2.0
_SAID = ("you (from {door}): {text:400}", "handed over, {material}: {text:400}")
_END_STYLES = {"answered": "green", "verified": "green", "incomplete": "red", "failed": "red"}
_ENDS = ("objective.ended", "turn.ended")
_OUTCOMES = {
    "ok": ("ok", "green"),
    "error": ("error", "red"),
    "denied": ("denied", "yellow"),
    "unknown": ("outcome unknown: a crash hid what became of it", "red"),
    "cancelled": ("cut off", "yellow"),
}


class TimelinePrinter:
    """Prints items; of one that was printed before, what has been added to it.

    Args:
        out: where to.
        session: whose items they are.
        live: a person watches a terminal: stream replies and output as they come.
        verbose: show also what the model was given of memory, not only how much.
    """

    def __init__(self, out: Output, session: str, *, live: bool, verbose: bool = False) -> None:
        self._out = out
        self._session = session
        self._live = live
        self._verbose = verbose
        self._next = 0
        self._printed: dict[int, set[str]] = {}
        self._spent: dict[int, tuple[int, int]] = {}
        self._tokens = self._usd_micros = 0
        self._price_known = True
        self._line_is_open = False
        self._open_step = ""
        self._reply = self._said = ""
        self._replied = 0
        self._output: dict[str, tuple[int, str]] = {}
        self._progress_at_s = 0.0
        self._silent = False
        self.running: dict[str, str] = {}
        """The tools of calls under way, by key."""
        self.checking = False
        """Stead runs the acceptance checks."""
        self.shows_edits = False
        """Edits are items of their own, so what a call prints of them is not shown as well."""

    def skim(self, items: Iterable[Json]) -> None:
        """Take items in as if they had been printed."""
        self._silent = True
        self.print(items)
        self._silent = False

    def print(self, items: Iterable[Json]) -> None:
        """Print what is new in items, which are in the order of their places."""
        for item in items:
            self._count(item)
            if item["kind"] == "step":
                self._step(item, self._printed.setdefault(item["place"], set()))
            elif item["place"] >= self._next:
                self._item(item)
            self._next = max(self._next, item["place"] + 1)

    def stream(self, body: Json) -> None:
        """Print a piece of what is under way; one that comes late, or after a gap, is left to the item."""
        if not self._live:
            return
        match body["type"]:
            case "text.delta" if body["number"] > self._replied and body["offset"] == len(self._reply):
                self._reply += body["text"]
                if text := clean(body["text"]):
                    if self._open_step:
                        self.finish_line()
                    self._prose(text, begins=body["offset"] == 0)
            case "output.delta":
                self._stream_output(body["key"], body["text"])
            case "progress":
                self._progress(body)
            case _:
                pass

    def finish_line(self) -> None:
        """End a line that is still open, before something else is written."""
        if self._line_is_open:
            self._out.write("\n")
            self._line_is_open = False
        self._open_step = ""

    # -- items ----------------------------------------------------------------------------------------------------

    def _item(self, item: Json) -> None:
        match item["kind"]:
            case "opened":
                self._lines(_opening(self._session, item["body"]))
            case "message":
                said = fill(_SAID[bool(item["body"]["material"])], item["body"]) + described(
                    item["body"]["attachments"]
                )
                self._lines([(said, "cyan")])
            case "reply":
                self._print_reply(item)
            case "failed":
                self._reply, self._replied = "", item["body"]["number"]
                said = "! no usable reply ({kind}): {error:300}[; asked to wait {retry_after_ms:duration}]"
                self._line(fill(said, item["body"]), "yellow")
            case "plan":
                self._lines(_plan(item["body"], item["before"]))
            case "carried":
                self._line(fill("the conversation is as it was after event {at} of {source}", item), "yellow")
            case _:
                self._print_line(item["body"])

    def _print_reply(self, item: Json) -> None:
        text = item["text"]
        if self._reply and text.startswith(self._reply):
            if rest := clean(text[len(self._reply) :]):
                self._prose(rest, begins=False)
        elif text.strip():
            self.finish_line()
            self._prose(clean(text).strip("\n"), begins=True)
        self.finish_line()
        self._reply, self._replied, self._said = "", item["number"], text.strip()
        self._lines((f"  (before: {clean_line(attempt, _LINE_LIMIT)})", "dim") for attempt in item["attempts"])
        if self._verbose or item["attempts"]:
            self._line(f"  (answered by {model_name(item['model'])})", "dim")
        put_right = (fill("  (put right in {key}: {slips})", one) for one in item["repaired"])
        self._lines((line, "dim") for line in put_right)

    def _print_line(self, body: Json) -> None:
        match body["type"]:
            case "objective.ended":
                style = _END_STYLES.get(body["status"], "yellow")
                why = "" if body["reason"] in ("done", body["status"]) else fill(" ({reason})", body)
                self._line(fill("{status}", body) + why, style)
                self._lines(filled(fact_words(body.get("facts", {}))))
                self._lines(filled(opinion_words(body.get("opinion"))))
            case "file.changed":
                self._lines(_edit(self._session, body["key"], body["change"], self._out))
                return
            case "line.ran":  # after what was shown of its output as it came
                self.running.pop(body["id"], None)
                shown, _ = self._output.pop(body["id"], (0, ""))
                self._tail(body["text"], seen=shown if shown < LIVE_LINES else 0)
                self._lines(filled(islice(worded(body), 1)))
                return
            case "terminal.opened" if body.get("line"):
                self.running[body["id"]] = clean_line(body["line"], _LINE_LIMIT)
            case _:
                pass
        if body["type"] in _ENDS and body["summary"].strip() not in ("", self._said):
            self._lines((f"  {line}".rstrip(), "") for line in clean(body["summary"]).strip("\n").split("\n"))
        words = worded({**body, "session": self._session})
        brief = body["type"] == "memory.recalled" and not self._verbose
        self._lines(filled(islice(words, 1) if brief else words))
        if body["type"] == "turn.ended":
            self._line(f"  {self._cost} so far", "dim")

    # -- calls ----------------------------------------------------------------------------------------------------

    def _step(self, step: Json, printed: set[str]) -> None:
        key, finished = step["key"], step["finished"]
        if step["state"] == "running":
            self.running[key] = clean_line(step["tool"])
        else:
            self.running.pop(key, None)
        if step["tool"] == "plan" and not (finished and finished["outcome"] != "ok"):
            return  # the plan itself is an item
        for name, words in step_words(step, _call(step)):
            if _is_new(name, printed):
                self._lines(filled([words]))
        run = f"{step['retries']} {step['started_ms']}"
        if step["state"] == "running" and self._live and _is_new(f"start {run}", printed):
            self.finish_line()
            self._write(self._heading(step), ends=False)
            self._open_step = key
        if not finished:
            return
        if _is_new(f"end {run}", printed):
            self._finish(step, finished)
        for edit in step["edits"]:
            if _is_new(f"edit {edit['seq']}", printed):
                self._lines(_edit(self._session, key, edit["change"], self._out))
        if step["landing"] and step["tool"] != "shell" and _is_new(f"landing {step['landing']}", printed):
            self._lines(filled(landed(step["landing"])))  # what a shell prints says so

    def _finish(self, step: Json, finished: Json) -> None:
        outcome = finished["outcome"]
        shown, rest = self._output.pop(step["key"], (0, ""))
        tailed = finished["text"].strip() and (outcome == "error" or (step["tool"] == "shell" and outcome == "ok"))
        if rest and not tailed:
            self._line(f"    | {_as_it_stands(rest)}".rstrip(), "dim")
        word, style = _OUTCOMES.get(outcome, (clean_line(outcome), "red"))
        detail = fill(", {duration_ms:duration}", finished) if outcome in ("ok", "error") else ""
        if outcome == "denied" and (judged := step["judged"]) and judged["verdict"] != "allow":
            why = fill("{text} (rule {rule})", judged["reason"])
            detail = clean_line(f", asked because: {why}" if judged["verdict"] == "ask" else f": {why}", 240)
        text = f"{self._out.style(word, style)}{detail}  {self._out.style(f'[{self._cost}]', 'dim')}"
        if self._open_step == step["key"]:
            self._write(f"  {text}", ends=False)
            self.finish_line()
        else:
            self._line(f"{self._heading(step)}  {text}")
        if tailed:
            self._tail(finished["text"], seen=shown if shown < LIVE_LINES else 0)
        self._lines((fill("    ! {text:300}", warning), "yellow") for warning in finished["warnings"])

    def _heading(self, step: Json) -> str:
        return f"> {self._out.style(clean_line(step['tool']), 'bold')} {subject_of(step['arguments'])}".rstrip()

    def _tail(self, text: str, seen: int) -> None:
        """The last lines of a longer text, set off from ours, after the ``seen`` ones that were shown as they came."""
        every = clean(text).rstrip("\n").split("\n")[seen:] if text.strip() else []
        if len(every) > TAIL_LINES:
            self._line(f"    | … {figures.counted(len(every) - TAIL_LINES, 'line')} before", "dim")
        self._lines((f"    | {line[:_LINE_LIMIT]}".rstrip(), "dim") for line in every[-TAIL_LINES:])

    def _stream_output(self, key: str, text: str) -> None:
        shown, rest = self._output.get(key, (0, ""))
        if key not in self.running or shown >= LIVE_LINES or (self.shows_edits and self.running[key] in _WRITERS):
            return
        *lines, rest = (rest + text).split("\n")
        self._lines((f"    | {_as_it_stands(line)}".rstrip(), "dim") for line in lines)
        self._output[key] = shown + len(lines), rest[-_LINE_LIMIT:]

    # -- the rest -------------------------------------------------------------------------------------------------

    def _progress(self, body: Json) -> None:
        """How far long work is: now and then, and never for what is done in a moment."""
        if body["what"] == "checks":
            self.checking = body["done"] < body["total"]
            return
        now_s = time.monotonic()
        if body["done"] == 0 or not self._progress_at_s:
            self._progress_at_s = now_s
        elif now_s - self._progress_at_s >= _PROGRESS_S:
            self._progress_at_s = now_s
            self._line(fill("({what}: {done:number} of {total:number} files)", body), "dim")

    def _count(self, item: Json) -> None:
        """Add what the item cost, as far as it has not been counted."""
        match item["kind"]:
            case "reply":
                spend = item["spend"]
            case "failed":
                spend = item["body"]["spend"]
            case "step":
                spend = {**item["read"], "price_known": True}
            case _:
                return
        tokens, usd_micros = self._spent.get(item["place"], (0, 0))
        self._spent[item["place"]] = spend["tokens"], spend["usd_micros"]
        self._tokens += spend["tokens"] - tokens
        self._usd_micros += spend["usd_micros"] - usd_micros
        self._price_known = self._price_known and spend["price_known"]

    @property
    def _cost(self) -> str:
        return f"{figures.tokens(self._tokens)} tokens, {figures.money(self._usd_micros, known=self._price_known)}"

    def _line(self, text: str, style: str = "") -> None:
        self._lines([(text, style)])

    def _lines(self, lines: Iterable[Line]) -> None:
        for text, style in lines:
            self.finish_line()
            if not self._silent:
                self._out.lines([text], style)

    def _prose(self, text: str, *, begins: bool) -> None:
        """Part of a reply."""
        if not self._silent:
            self._out.prose(text, begins=begins)
            self._line_is_open = not text.endswith("\n")

    def _write(self, text: str, *, ends: bool) -> None:
        """Part of a line, which stays open unless the text ends it."""
        if not self._silent:
            self._out.write(text)
            self._line_is_open = not ends


def _as_it_stands(line: str) -> str:
    """A line of output with its indentation; of one that was written over, the last state."""
    return clean(line).rstrip("\n").rpartition("\n")[2][:_LINE_LIMIT]


def _is_new(name: str, printed: set[str]) -> bool:
    fresh = name not in printed
    printed.add(name)
    return fresh


def _call(step: Json) -> str:
    return f"{clean_line(step['tool'])} {subject_of(step['arguments'])}".rstrip()


def _opening(session: str, body: Json) -> Iterator[Line]:
    shown = {**body, "session": session, "models": [model_name(model) for model in body["chain"]]}
    yield fill("{session}: {title:160}", shown), "bold"
    limit = "budget {budget.tokens:number} tokens, {budget.usd_micros:money}"
    yield fill(f"  in {{directory}}, with {{models:then}}, {limit}", shown), ""
    yield from filled(unpriced(body, body["budget"]))
    guarded = {rule["text"] for rule in body.get("rules") or ()}
    for constraint in body.get("constraints", ()):
        by = "kept by the guard" if " ".join(constraint.split()) in guarded else "only asked of the model"
        yield f"  keep: {clean_line(constraint, _LINE_LIMIT)} ({by})", ""


def _plan(body: Json, before: list[Json]) -> Iterator[Line]:
    steps = body["steps"]
    if [step["title"] for step in steps] == [step["title"] for step in before]:
        done = sum(step["status"] in ("done", "skipped") for step in steps)
        now = next((step["title"] for step in steps if step["status"] == "doing"), "")
        values = {"done": done, "all": len(steps), "now": now}
        yield fill("plan: {done} of {all} done[; now: {now:100}]", values), "dim"
        return
    yield "plan", ""
    for number, step in enumerate(steps, 1):
        mark = "" if step["status"] == "todo" else fill(" ({status})", step)
        yield f"  {number}. {clean_line(step['title'], _LINE_LIMIT)}{mark}", ""
    for call in body["calls"]:
        left = "".join(f", {name} from {source}" for name, source in call["takes"].items())
        left += "".join(f", {name} up to {most:g}" for name, most in call["up_to"].items())
        yield f"  names {reveal_line(call['tool'] + ' ' + call['arguments'] + left)}", "dim"


def _edit(session: str, key: str, change: Json, out: Output) -> Iterator[Line]:
    values = {"key": key, "session": session}
    yield f"  {fill(changed_file(change), change)}  [{fill('{key}', values)}]", "bold"
    lines = diff_lines(change, out, limit=DIFF_LINES)
    yield from ((f"    {line}", "") for line in lines)
    if len(lines) > DIFF_LINES:
        yield fill("    all of it: stead session changes {session} {key}", values), "dim"
