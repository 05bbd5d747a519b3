"""An agent of the Agent Client Protocol with the standard library alone, which does what its task says, line by line.

It is run as ``python3 -c SOURCE`` in a machine. A line of a task is a word and its argument:

``write PATH TEXT`` asks leave as an edit, and writes; ``run COMMAND`` asks leave as a command, and runs it; ``sneak``
is ``run`` that claims to read; ``fetch URL`` asks leave to; ``odd WHAT`` asks leave for something else; ``reach URL``
asks nobody; ``env NAME`` says a variable; ``say``, ``sleep``, ``die``, ``flood``, ``noise``, ``forge``, ``twice``,
``client METHOD``, ``always COMMAND`` (offers no leave for once), ``bare PATH TEXT`` (writes unasked).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from typing import Any

Json = dict[str, Any]

asked = 0
session = "pear-1"


def send(message: Json) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(**fields: object) -> None:
    send({"method": "session/update", "params": {"sessionId": session, "update": fields}})


def say(text: str) -> None:
    update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text + "\n"})


def hear() -> Json:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    message: Json = json.loads(line)
    return message


OPTIONS = [
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "once", "name": "Once", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]


def leave(call: Json, options: list[Json] | None = None) -> bool:
    """Ask for leave, and wait for the answer."""
    global asked
    asked += 1
    call = {"toolCallId": f"t{asked}", "status": "pending", **call}
    update(sessionUpdate="tool_call", **call)
    params = {"sessionId": session, "toolCall": {"toolCallId": call["toolCallId"]}, "options": options or OPTIONS}
    send({"id": f"p{asked}", "method": "session/request_permission", "params": params})
    while True:
        answer = hear()
        if answer.get("method") == "session/cancel":
            raise KeyboardInterrupt
        if answer.get("id") == f"p{asked}":
            outcome = answer["result"]["outcome"]
            say(f"told {json.dumps(outcome)}")
            return bool(outcome.get("optionId") == "once")


def write(path: str, text: str) -> str:
    full = os.path.join("/work", path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w") as file:
        file.write(text)
    return f"wrote {path}"


def run(command: str) -> str:
    ran = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, cwd="/work")
    return (ran.stdout + ran.stderr).strip()


def reach(url: str) -> str:
    request = urllib.request.Request(url, headers={"x-api-key": os.environ.get("PEAR_KEY", "")})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return f"reached {answer.status}: {answer.read().decode()}"
    except OSError as error:
        return f"not reached: {error} {getattr(error, 'read', lambda: b'')()[:300]!r}"


def step(line: str) -> None:
    word, _, rest = line.partition(" ")
    name, _, text = rest.partition(" ")
    raw = {"rawInput": {"command": rest}, "title": rest}
    match word:
        case "write":
            diff = {"type": "diff", "path": f"/work/{name}", "oldText": None, "newText": text}
            if leave({"kind": "edit", "title": f"Edit {name}", "content": [diff], "locations": [{"path": name}]}):
                say(write(name, text))
        case "run":
            if leave({"kind": "execute", **raw}):
                say(run(rest))
        case "sneak":
            if leave({"kind": "read", **raw, "title": "Read the notes"}):
                say(run(rest))
        case "always":
            if leave({"kind": "execute", **raw}, OPTIONS[:1]):
                say(run(rest))
        case "fetch":
            leave({"kind": "fetch", "title": f"Fetch {rest}", "rawInput": {"url": rest}})
        case "odd":
            leave({"kind": "other", "title": rest, "rawInput": {"wish": rest}})
        case "bare":
            say(write(name, text))
        case "reach":
            say(reach(rest))
        case "env":
            say(f"{rest}={os.environ.get(rest)}")
        case "say":
            say(rest)
        case "sleep":
            say("asleep")
            time.sleep(float(rest))
        case "die":
            sys.stderr.write("the pears are gone\n")
            sys.exit(3)
        case "flood":
            while True:
                update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": "x" * 4_000_000})
        case "noise":
            print("\n".join(["loading"] * 5000), flush=True)
            time.sleep(600)
        case "forge":
            send({"id": 977, "result": {"stopReason": "end_turn"}})
            time.sleep(600)
        case "nest":
            sys.stdout.write('{"id":1,"result":' + "[" * 5000 + "]" * 5000 + "}\n")
            sys.stdout.flush()
            time.sleep(600)
        case "twice":
            call = {"toolCallId": "both", "kind": "execute", "title": "true", "rawInput": {"command": "true"}}
            for _ in range(2):
                params = {"sessionId": session, "toolCall": call, "options": OPTIONS}
                send({"id": "same", "method": "session/request_permission", "params": params})
            time.sleep(600)
        case "many":
            for number in range(int(rest)):
                leave({"kind": "execute", "rawInput": {"command": "true"}, "title": f"true {number}"})
        case "client":
            send({"id": "c1", "method": rest, "params": {"sessionId": session, "path": "/etc/passwd"}})
            say(f"heard {json.dumps(hear().get('error'))}")
        case _:
            say(f"what is {word}?")


while True:
    message = hear()
    ident, method = message.get("id"), message.get("method")
    match method:
        case "initialize":
            hello = {"protocolVersion": 1, "agentInfo": {"name": "pear", "version": "1.2"}, "agentCapabilities": {}}
            send({"id": ident, "result": {**hello, "authMethods": [{"id": "key", "name": "A key"}]}})
        case "session/new":
            send({"id": ident, "result": {"sessionId": session}})
        case "session/prompt":
            reason = "end_turn"
            try:
                for one in message["params"]["prompt"][0]["text"].splitlines():
                    step(one)
            except KeyboardInterrupt:
                reason = "cancelled"
            send({"id": ident, "result": {"stopReason": reason}})
        case _ if ident is not None:
            send({"id": ident, "error": {"code": -32601, "message": f"no {method}"}})
        case _:
            continue  # a notification
