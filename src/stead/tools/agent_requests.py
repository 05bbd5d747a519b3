"""What an external agent asks leave for, as the calls of Stead's own tools that would do the same.

Layer: tools. Pure. Only what a request holds counts: a command line, whole new contents of files, a file to be looked
at, an address. What kind of thing the agent says that it is counts for nothing, and what holds none of these is for the
person to judge.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Mapping, Sequence

import msgspec

from stead.domain.external_agents import Wanted
from stead.domain.mcp import Json

OTHER = "agent_action"
"""The tool whose calls stand for what is none of the others; nothing but a person's yes allows one."""
_WORK = "/work"
_TITLE_CHARS, _SHOWN_CHARS = 300, 4_000
_READS = frozenset({"path", "file_path", "abs_path", "line", "offset", "limit"})


def wanted(agent: str, call: Json) -> tuple[Wanted, ...]:
    """Every call that a request stands for; leave for it is leave for all of them.

    Args:
        agent: who asks.
        call: the tool call as the agent has described it so far.
    """
    title = " ".join(str(call.get("title") or "").split())[:_TITLE_CHARS]
    raw = call.get("rawInput")
    given: Mapping[str, object] = raw if isinstance(raw, dict) else {}
    acts = [_as_call(agent, "write", {"path": below(path), "text": text}, title) for path, text in _written(call)]
    if command := _line(given.get("command")):
        cwd = given.get("cwd")
        if isinstance(cwd, str) and posixpath.normpath(cwd) != _WORK:
            command = f"cd {shlex.quote(cwd)} && {command}"
        acts.insert(0, _as_call(agent, "shell", {"command": command}, title))
    if acts:
        return tuple(acts)
    url = given.get("url")
    if isinstance(url, str):
        return (_as_call(agent, "fetch", {"url": url}, title),)
    paths = [given[name] for name in ("path", "file_path", "abs_path") if name in given]
    if len(paths) == 1 and isinstance(paths[0], str) and given.keys() <= _READS and call.get("kind") == "read":
        return (_as_call(agent, "read", {"path": below(paths[0])}, title),)
    shown = msgspec.json.encode({"input": raw, "content": call.get("content")}).decode()
    return (_as_call(agent, OTHER, {"agent": agent, "asks": title, "request": shown[:_SHOWN_CHARS]}, title),)


def below(path: str) -> str:
    """A path as tools have it: relative to the workspace where it lies there."""
    whole = posixpath.normpath(posixpath.join(_WORK, path))
    return posixpath.relpath(whole, _WORK) if f"{whole}/".startswith(f"{_WORK}/") else path


def _line(command: object) -> str:
    """A command line, given as a text or as words; one that runs a shell is what that shell runs."""
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        return ""
    if len(command) == 3 and posixpath.basename(command[0]) in ("bash", "sh") and command[1] in ("-c", "-lc"):
        return str(command[2])
    return shlex.join(command)


def _written(call: Json) -> Sequence[tuple[str, str]]:
    """The files that a request would write, with their new contents; none unless it says so of all of them."""
    content = call.get("content")
    shown = [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    pairs = [(one.get("path"), one.get("newText")) for one in shown if one.get("type") != "content"]
    known = [(path, text) for path, text in pairs if isinstance(path, str) and isinstance(text, str)]
    return known if len(known) == len(pairs) else ()


def _as_call(agent: str, tool: str, arguments: Mapping[str, object], title: str) -> Wanted:
    return Wanted(agent, tool, msgspec.json.encode(arguments).decode(), title)
