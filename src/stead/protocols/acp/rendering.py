"""Items of a timeline as the updates of version 1 of the protocol.

Layer: a door. Pure, but for what it has sent already: an item comes again when it changes, and only what is new of it
is sent. Texts that a person decides by are revealed, as ``domain.shown`` has it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping

from stead.client import Json
from stead.domain.shown import reveal

TEXT_LIMIT = 20_000
"""Characters of a call's output; the whole of it is in the page and the record."""
LIVE_LIMIT = 8_000
"""The last characters of a running command's output."""
_TITLE_LIMIT = 120
_SUBJECTS = ("command", "path", "url", "pattern", "query")
_KINDS = {
    "read": "read",
    "glob": "search",
    "grep": "search",
    "history": "search",
    "history_all": "search",
    "find_tools": "search",
    "recall": "search",
    "recall_all": "search",
    "edit": "edit",
    "write": "edit",
    "shell": "execute",
    "fetch": "fetch",
    "web_search": "fetch",
    "extract_page": "fetch",
    "api_read": "fetch",
}
_STATES = {"new": "pending", "asking": "pending", "approved": "pending", "running": "in_progress"}
_PLAN_STATES = {"todo": "pending", "doing": "in_progress", "done": "completed", "skipped": "completed"}


class Renderer:
    """What one editor knows of one session.

    Args:
        directory: of the session, for the places that calls name.
        picture: gives one that a message showed, in Base64; "" for one that is gone.
        terminals: the editor shows a command's output as a terminal, by the extension that several agents share.
    """

    def __init__(self, directory: str, picture: Callable[[str], str], *, terminals: bool = False) -> None:
        self._directory = directory
        self._picture = picture
        self._terminals = terminals
        self._calls: dict[str, Json] = {}
        self._next = 0
        self._reply, self._replied, self._said = "", 0, ""
        self._replying = 0
        self._output: dict[str, str] = {}
        self._streamed: set[str] = set()
        self.sent: list[str] = []
        """Words of this editor, which shows them already, and in brackets what it handed over."""

    def knows(self, key: str) -> bool:
        """Whether the editor has heard of a call."""
        return key in self._calls

    def replaced(self, key: str, content: list[Json]) -> None:
        """The editor shows this as the content of a call, until something else is sent."""
        self._calls[key]["content"] = content

    def item(self, item: Json) -> Iterator[Json]:
        """The updates that a new or changed item makes."""
        if item["kind"] == "step":
            yield from self._step(item)
        elif item["place"] >= self._next:
            yield from self._once(item)
        self._next = max(self._next, item["place"] + 1)

    def piece(self, body: Json) -> Iterator[Json]:
        """The updates of what is under way; a piece that comes late, or after a gap, is left to the item."""
        if body["type"] == "text.delta" and body["number"] != self._replying:
            self._replying, self._reply = body["number"], ""
        match body["type"]:
            case "text.delta" if body["number"] > self._replied and body["offset"] == len(self._reply):
                self._reply += body["text"]
                yield _chunk("agent_message_chunk", body["text"], f"r{body['number']}")
            case "output.delta" if (call := self._calls.get(body["key"])) and call["status"] == "in_progress":
                yield self._running(body["key"], body["text"])
            case _:
                return

    def _once(self, item: Json) -> Iterator[Json]:
        match item["kind"]:
            case "message":
                yield from self._message(item)
            case "reply":
                yield from self._finished_reply(item)
            case "failed":
                self._reply, self._replied = "", item["body"]["number"]
                why = f"(no usable reply: {item['body']['kind']}: {item['body']['error'][:300]})"
                yield _chunk("agent_thought_chunk", why, f"f{item['seq']}")
            case "plan":
                yield plan(item["body"]["steps"])
            case "line":
                yield from self._line(item)
            case _:
                return

    def _message(self, item: Json) -> Iterator[Json]:
        text = f"[{item['body']['material']}]" if item["body"]["material"] else item["body"]["text"]
        if text in self.sent:
            self.sent.remove(text)
            return
        shown, id = item["body"]["attachments"], f"m{item['seq']}"
        pictures = [(one["media_type"], self._picture(one["content"])) for one in shown if _is_picture(one)]
        names = "".join(f"\n[{one['name']}]" for one in shown if not _is_picture(one))
        yield _chunk("user_message_chunk", text + names, id)
        for media_type, data in pictures:
            if data:
                image = {"type": "image", "data": data, "mimeType": media_type}
                yield {"sessionUpdate": "user_message_chunk", "content": image, "messageId": id}

    def _finished_reply(self, item: Json) -> Iterator[Json]:
        text, said = item["text"], self._reply
        if item["thinking"].strip():
            yield _chunk("agent_thought_chunk", item["thinking"], f"t{item['number']}")
        rest = text[len(said) :] if text.startswith(said) else text
        if rest.strip() or (rest and said):
            yield _chunk("agent_message_chunk", rest, f"r{item['number']}")
        self._reply, self._replied, self._said = "", item["number"], text.strip()

    def _line(self, item: Json) -> Iterator[Json]:
        body = item["body"]
        match body["type"]:
            case "turn.ended" if body["reason"] != "done" or body["summary"].strip() not in ("", self._said):
                yield _chunk("agent_message_chunk", body["summary"], f"e{item['seq']}")
            case "session.paused" if body["why"]:
                yield _chunk("agent_thought_chunk", f"(paused: {body['why']})", f"e{item['seq']}")
            case "profile.set":
                yield {"sessionUpdate": "current_mode_update", "currentModeId": body["profile"]}
            case _:
                return

    # -- calls --------------------------------------------------------------------------------------------------------

    def _step(self, step: Json) -> Iterator[Json]:
        if step["tool"] == "plan" and not (step["finished"] and step["finished"]["outcome"] != "ok"):
            return  # the plan itself is an item
        key, now = step["key"], self.call(step)
        before = self._calls.get(key)
        self._calls[key] = now
        if before is None:
            yield {"sessionUpdate": "tool_call", "toolCallId": key, **now}
        elif changed := {name: value for name, value in now.items() if before.get(name) != value}:
            yield {"sessionUpdate": "tool_call_update", "toolCallId": key, **changed}
        if step["finished"]:
            self._output.pop(key, None)

    def call(self, step: Json) -> Json:
        """A call as it stands."""
        arguments = _arguments(step["arguments"])
        outcome = step["finished"] and step["finished"]["outcome"]
        status = _STATES.get(step["state"]) or ("completed" if outcome == "ok" else "failed")
        shown: Json = {
            "title": title(step["tool"], arguments, step["arguments"]),
            "kind": _KINDS.get(step["tool"], "other"),
            "status": status,
            "rawInput": arguments or {"arguments": step["arguments"]},
            "content": self._content(step),
        }
        path = arguments.get("path")
        if isinstance(path, str) and path:
            shown["locations"] = [{"path": self._absolute(path)}]
        if step["tool"] == "shell" and self._terminals:
            shown["_meta"] = self._terminal(step)
        return shown

    def _content(self, step: Json) -> list[Json]:
        edits = [edit["change"] for edit in step["edits"] if not edit["undone"]]
        content = [diff for change in edits for diff in diffs(self._absolute(change["path"]), change)]
        content += [
            text_block(f"({cut} more lines of {change['path']})") for change in edits if (cut := change["cut"]) > 0
        ]
        finished = step["finished"]
        if step["tool"] == "shell" and self._terminals:
            content.append({"type": "terminal", "terminalId": step["key"]})
        elif finished and finished["text"].strip() and (not content or finished["outcome"] != "ok"):
            content.append(text_block(finished["text"], fence=step["tool"] == "shell"))
        elif step["state"] == "running" and (output := self._output.get(step["key"])):
            content.append(text_block(output, fence=True))
        if not finished and (why := _refusal(step)):
            content.append(text_block(why))
        return content

    def _terminal(self, step: Json) -> Json:
        meta: Json = {"terminal_info": {"terminal_id": step["key"], "cwd": self._directory}}
        if finished := step["finished"]:
            if step["key"] not in self._streamed:
                self._streamed.add(step["key"])
                meta["terminal_output"] = {"terminal_id": step["key"], "data": finished["text"][-TEXT_LIMIT:]}
            code = finished.get("exit_code")
            meta["terminal_exit"] = {"terminal_id": step["key"], "exit_code": code, "signal": None}
        return meta

    def _running(self, key: str, piece: str) -> Json:
        update: Json = {"sessionUpdate": "tool_call_update", "toolCallId": key}
        self._output[key] = output = (self._output.get(key, "") + piece)[-LIVE_LIMIT:]
        if self._terminals:
            self._streamed.add(key)
            return update | {"_meta": {"terminal_output": {"terminal_id": key, "data": piece}}}
        self._calls[key]["content"] = [text_block(output, fence=True)]
        return update | {"content": self._calls[key]["content"]}

    def _absolute(self, path: str) -> str:
        return path if path.startswith("/") else f"{self._directory}/{path}"


def plan(steps: Iterable[Mapping[str, str]]) -> Json:
    """A plan as an update."""
    entries = [
        {"content": step["title"], "priority": "medium", "status": _PLAN_STATES[step["status"]]} for step in steps
    ]
    return {"sessionUpdate": "plan", "entries": entries}


def message(text: str) -> Json:
    """Words of Stead itself."""
    return _chunk("agent_message_chunk", text)


def title(tool: str, arguments: Json, given: str) -> str:
    """What a call is, on one line."""
    subject = next((arguments[name] for name in _SUBJECTS if isinstance(arguments.get(name), str)), None)
    line = " ".join(reveal(given if subject is None else subject).split())
    said = f"{reveal(tool)} {line if len(line) <= _TITLE_LIMIT else line[: _TITLE_LIMIT - 1] + '…'}"
    return said.strip()


def nested(id: str, question: Json) -> Json:
    """What a subagent asks about, as a call of the session that it works for."""
    arguments = _arguments(question["arguments"])
    whose = " ".join(reveal(question["title"]).split())[:_TITLE_LIMIT]
    return {
        "sessionUpdate": "tool_call",
        "toolCallId": id,
        "title": f"{whose}: {title(question['tool'], arguments, question['arguments'])}",
        "kind": _KINDS.get(question["tool"], "other"),
        "status": "pending",
        "rawInput": arguments or {"arguments": question["arguments"]},
    }


def settled(id: str, question: Json) -> Json:
    """The end of such a question; what its call then does stands with the subagent."""
    given = question["status"] == "given"
    how = f"{question['status']} from {question['door']}" if question["door"] else question["status"]
    said = f"The question is settled: {how}. What the subagent makes of it: stead watch {question['session']}"
    status = "completed" if given else "failed"
    return {"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": [text_block(said)]}


def diffs(path: str, change: Json) -> Iterator[Json]:
    """A change of a file, hunk by hunk; nothing for one whose lines are not known."""
    for hunk in f"\n{change['diff']}".split("\n@@")[1:]:
        _, *lines = hunk.split("\n")
        old, new = (_side(lines, signs) for signs in ("- ", "+ "))
        before = None if change["kind"] == "added" else old
        yield {"type": "diff", "path": path, "oldText": before, "newText": new}


def _side(lines: list[str], signs: str) -> str:
    """One version of a hunk's lines. A line that begins with a backslash says that the one before ends the file."""
    text = ""
    for at, line in enumerate(lines):
        if line[:1] and line[0] in signs:
            ends_file = at + 1 < len(lines) and lines[at + 1].startswith("\\")
            text += line[1:] + ("" if ends_file else "\n")
    return text


def wanted(directory: str, arguments: Json) -> list[Json]:
    """What a call that has not run would change of a file, as far as its arguments say."""
    path, old, new = arguments.get("path"), arguments.get("old"), arguments.get("new", arguments.get("text"))
    if not isinstance(path, str) or not isinstance(new, str):
        return []
    where = path if path.startswith("/") else f"{directory}/{path}"
    return [{"type": "diff", "path": where, "oldText": old if isinstance(old, str) else None, "newText": new}]


def _is_picture(attachment: Json) -> bool:
    return bool(attachment["media_type"].startswith("image/"))


def text_block(text: str, *, fence: bool = False, limit: int = TEXT_LIMIT) -> Json:
    """Text as the content of a call; of one that is longer than so many characters, the end."""
    if len(text) > limit:
        text = f"(the last {limit} of {len(text)} characters; all of them are in the page)\n{text[-limit:]}"
    if fence:
        mark = "```"
        while mark in text:
            mark += "`"
        text = f"{mark}\n{text.rstrip()}\n{mark}"
    return {"type": "content", "content": {"type": "text", "text": text}}


def _arguments(text: str) -> Json:
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _refusal(step: Json) -> str:
    question, judged = step["question"], step["judged"]
    if step["state"] == "dropped":
        return "Not run: the turn was over."
    if question and question["status"] in ("denied", "lapsed"):
        how = f"{question['status']} from {question['door']}" if question["door"] else question["status"]
        return f"Not run: {how}. {question['why']}".strip()
    if step["state"] == "refused" and judged:
        return f"Not run: {judged['reason']['text']} (rule {judged['reason']['rule']})"
    return ""


def _chunk(kind: str, text: str, id: str = "") -> Json:
    named = {"messageId": id} if id else {}
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}, **named}
