"""The rehearsal model: deterministic, offline, and plainly no intelligence.

Layer: providers. It is a model like any other: instructions, messages and tool schemas in, a reply out, nothing kept in
between. It serves when no other model is set up, so that the whole of Stead can be tried, and it never poses as more:
what its published grammar does not cover, it says it cannot do, and how to connect a model.

At every request the work so far is replayed: each task is a generator of calls, and is fed the results that the
messages hold. Where they end is the next call. Only a person's words are read as tasks; notices and results never are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from stead.brain.estimate import estimate_request
from stead.domain.events import ModelRef, Spend
from stead.domain.ids import CallKey, RequestNo
from stead.domain.messages import (
    AssistantMessage,
    Message,
    ReplyPart,
    ResultsMessage,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from stead.domain.ports import ModelInfo, ModelRequest, Reply
from stead.domain.tools import ToolSpec
from stead.providers import rehearsal_reading
from stead.providers.rehearsal_grammar import Task, understand
from stead.providers.rehearsal_steps import Do, Seen, Toolset, Work
from stead.providers.rehearsal_tasks import SHOWN_CHARACTERS, SHOWN_LINES, Outcome, carry_out, titles

LABEL = "Rehearsal model — no AI:"
CONNECT = (
    "To use a real model: `stead providers presets` shows the vendors, `stead providers add NAME --preset PRESET "
    "--key-env VARIABLE` adds one, and a local model server is found by itself."
)
GRAMMAR = (
    "I follow a small fixed grammar, one task a goal: the headings of a file; count lines, words, characters or "
    "rows; find text; replace text; list files; sum up a CSV table; copy a file; run a command in backticks; "
    "fetch an address and quote it; write a quoted text to a file; show a file."
)

WINDOW_TOKENS = 1_000_000
MOST_OUTPUT_TOKENS = 32_768


def info(ref: ModelRef) -> ModelInfo:
    """What is known of it: free, and large enough for everything."""
    return ModelInfo(ref, WINDOW_TOKENS, MOST_OUTPUT_TOKENS, 0, 0, price_known=True, rehearsal=True)


def reply(
    request: ModelRequest, ref: ModelRef, on_text: Callable[[str], None], attempts: tuple[str, ...] = ()
) -> Reply:
    """Answer a request.

    Args:
        request: as any model gets it.
        ref: its own name, for the reply.
        on_text: gets the text, at once.
        attempts: what was tried before it.
    """
    step = rehearsal_reading.answer(request) or _next(request)
    stop: Literal["stop", "tool_call", "length"] = "stop"
    parts: tuple[ReplyPart, ...] = (Text(step),) if isinstance(step, str) else _call(step, request.number)
    if isinstance(step, Do):
        stop = "tool_call"
        if (needed := _tokens("", (), (AssistantMessage(parts),))) > request.max_output_tokens:
            room = f"a reply may have {request.max_output_tokens} tokens and the next step needs {needed}"
            stop, parts = "stop", (Text(f"{LABEL} {room}. I can go no further. The goal is not met."),)
    while (given := _tokens("", (), (AssistantMessage(parts),))) > request.max_output_tokens:
        said = parts[0]
        assert isinstance(said, Text)
        stop, parts = "length", (Text(said.text[: len(said.text) // 2]),)
    on_text("".join(part.text for part in parts if isinstance(part, Text)))
    usage = Usage(_tokens(request.instructions, request.tools, request.messages), given)
    return Reply(parts, stop, ref, usage, Spend(tokens=usage.total), attempts, duration_ms=0, first_token_ms=0)


def _call(step: Do, number: RequestNo) -> tuple[ReplyPart, ...]:
    arguments = msgspec.json.encode(step.arguments).decode()
    return Text(step.why), ToolCall(CallKey(f"call_{number}_0"), step.tool, arguments)


def _tokens(instructions: str, tools: Sequence[ToolSpec], messages: Sequence[Message]) -> int:
    """Its own count of tokens: half of the upper bound that is used for every model, which is about the truth."""
    return estimate_request(instructions, tools, messages) // 2


_OBJECT = msgspec.json.Decoder(dict[str, object])


class _Past(msgspec.Struct, frozen=True):
    """A call that was made, and its result. ``at``: the message with the call."""

    at: int
    tool: str
    arguments: dict[str, object]
    seen: Seen


class _Order(msgspec.Struct, frozen=True):
    """Something to do: a person's words, or the same again because Stead said that the goal is not met."""

    at: int
    text: str
    again: int


def _next(request: ModelRequest) -> Do | str:
    """The next call, or the last word."""
    tools = Toolset({tool.name: _properties(tool) for tool in request.tools})
    past = list(_past(request.messages))
    orders = _orders(request.messages)
    outcomes: list[Outcome | None] = []
    for order in orders:
        task = understand(order.text)
        if task is None:
            given_up = _plan((_short(order),), ("skipped",), "Close the plan.")
            seen = any((call.tool, call.arguments) == ("plan", given_up.arguments) for call in past)
            if "plan" in tools.offered and not seen:
                return given_up
            outcomes.append(None)
            continue
        if order.again and (outcome := outcomes[-1]) is not None and outcome.met:
            outcomes.append(outcome)
            continue
        past = [call for call in past if call.at > order.at]
        step, past = _replay(task, tools, past)
        if isinstance(step, Do):
            return step
        outcomes.append(step)
    return _last_word(orders, outcomes)


def _replay(task: Task, tools: Toolset, past: list[_Past]) -> tuple[Do | Outcome, list[_Past]]:
    """Run a task against the calls that were made; the first one missing is the next. Gives the calls left over too."""
    work = _with_plan(task, tools)
    try:
        step = next(work)
        while True:
            at = next(
                (at for at, call in enumerate(past) if (call.tool, call.arguments) == (step.tool, step.arguments)), -1
            )
            if at < 0:
                return step, past
            seen, past = past[at].seen, past[at + 1 :]
            step = work.send(seen)
    except StopIteration as end:
        outcome: Outcome = end.value
        return outcome, past


def _with_plan(task: Task, tools: Toolset) -> Work[Outcome]:
    """A task between the plan as it is made and the plan as it came out."""
    steps = titles(task)
    if "plan" in tools.offered:
        yield _plan(steps, ("doing", "todo"), "Plan the work.")
    outcome = yield from carry_out(task, tools)
    if "plan" in tools.offered:
        came = ("done" if done else "skipped" for done in (outcome.worked, outcome.met))
        yield _plan(steps, tuple(came), "Close the plan.")
    return outcome


def _plan(steps: Sequence[str], states: Sequence[str], why: str) -> Do:
    lines = [{"title": title, "status": status} for title, status in zip(steps, states, strict=True)]
    return Do("plan", {"steps": lines}, why)


def _orders(messages: Sequence[Message]) -> list[_Order]:
    """The person's words since the last report, in order, each once more for every notice that came after a report.

    What others say, a project's own rules for one, is data and orders nothing.
    """
    orders: list[_Order] = []
    reported = False
    for at, message in enumerate(messages):
        if not isinstance(message, UserMessage):
            reported = isinstance(message, AssistantMessage) and not _calls(message)
        elif message.source:
            continue
        elif not message.notice:
            if reported:
                orders.clear()
            orders.append(_Order(at, message.text, 0))
            reported = False
        elif orders and reported:
            orders.append(_Order(at, orders[-1].text, orders[-1].again + 1))
            reported = False
    return orders


def _calls(reply: AssistantMessage) -> bool:
    return any(isinstance(part, ToolCall) for part in reply.parts)


def _past(messages: Sequence[Message]) -> Iterator[_Past]:
    """Every call that has a result, in order."""
    for at, message in enumerate(messages[:-1]):
        answer = messages[at + 1]
        if not isinstance(message, AssistantMessage) or not isinstance(answer, ResultsMessage):
            continue
        results: dict[CallKey, ToolResult] = {result.key: result for result in answer.results}
        for part in message.parts:
            if isinstance(part, ToolCall) and (result := results.get(part.key)) is not None:
                try:
                    arguments = _OBJECT.decode(part.arguments)
                except msgspec.MsgspecError:
                    continue  # another model's; it never ran
                yield _Past(at, part.tool, arguments, Seen(result.text, result.is_error))


def _properties(tool: ToolSpec) -> frozenset[str]:
    known = tool.parameters.get("properties")
    return frozenset(known) if isinstance(known, dict) else frozenset()


def _last_word(orders: Sequence[_Order], outcomes: Sequence[Outcome | None]) -> str:
    """The report on everything that was asked: one paragraph an order, the last try of each."""
    paragraphs = []
    for number, (order, outcome) in enumerate(zip(orders, outcomes, strict=True)):
        if number + 1 < len(orders) and orders[number + 1].again:
            continue  # tried again later
        tried = f" This was try {order.again + 1}." if order.again else ""
        if outcome is None:
            paragraphs.append(f"I do not understand {_short(order)!r}. {GRAMMAR} {CONNECT} The goal is not met.{tried}")
            continue
        rules = " I do not judge constraints; look for yourself." if "\n\nConstraints:\n" in order.text else ""
        paragraphs.append(" ".join(outcome.said) + rules + tried + _quoted(outcome.shown))
    return f"{LABEL} " + "\n\n".join(paragraphs)


def _short(order: _Order) -> str:
    return " ".join(order.text.split())[:60]


def _quoted(lines: Sequence[str]) -> str:
    """Lines set off by four spaces, as many as are good to read."""
    shown: list[str] = []
    room = SHOWN_CHARACTERS
    for line in lines[:SHOWN_LINES]:
        room -= len(line) + 5
        if room < 0:
            break
        shown.append(f"    {line}")
    left = len(lines) - len(shown)
    more = f"\n\n({left} more lines are not shown.)" if left else ""
    return "\n\n" + "\n".join(shown) + more if lines else ""
