"""What the model of a staged home says: a play for each phrase that the person's words hold, told turn by turn.

The phrase is looked for in the newest words of the person, so one conversation can go through several plays. A test
that needs another play adds it to ``PLAYS`` under a phrase of its own.
"""

from __future__ import annotations

import re
from typing import Any

from tests.fakes.models import Call, Seen, Turn

STORY = (
    "## The harbour\n\nThe **north lamp** is lit, the south lamp is not. What I saw:\n\n"
    "| lamp | lit | since |\n| --- | --- | --- |\n| north | yes | 06:10 |\n| south | no | |\n\n"
    "```python\ndef lit(name: str) -> bool:\n    return name in LAMPS\n```\n\n"
    "1. Trim the wick.\n2. Fill the oil.\n\n> Nobody was at the quay.\n"
)
WALK = (
    "The **west lamp** is there; see https://quay.example.com/west for its log.\n\n"
    "- [x] look at the code\n- [ ] light the lamp\n\n"
    f"| lamp | {' | '.join(f'watch number {hour}' for hour in range(1, 15))} |\n|{' --- |' * 15}\n"
    f"| west |{' nothing to report |' * 14}\n\n"
    "```python\ndef lit(name: str) -> bool:\n    return name in LAMPS  # north, south and west\n```\n"
)
TABLE = """HIGH = ["06:10", "18:40"]
LOW = ["12:25"]


def table() -> str:
    rows = [(at, "high") for at in HIGH] + [(at, "low") for at in LOW]
    return "\\n".join(f"{at}  {tide}" for at, tide in sorted(rows))


if __name__ == "__main__":
    print(table())
"""
TABLED = (
    "The tide table is there: `python3 tides.py` prints the day in order.\n\n"
    "| time | tide |\n| --- | --- |\n| 06:10 | high |\n| 12:25 | low |\n| 18:40 | high |\n\n"
    "The evening's high water is not in your notes; I took it to be 12½ hours after the morning's. Please check it.\n"
)
_NOTICE = re.compile("<stead-notice>.*?</stead-notice>", re.DOTALL)
"""What is remembered of other plays stands there, and is nobody's words now."""
FERRY = "The ferry leaves at nine on Sundays."
_PLAN = {"steps": [{"title": "Read the notes"}, {"title": "Write the summary"}]}
_TRIMMED = [{"kind": "exists", "subject": "wicks.txt"}, {"kind": "command", "subject": "test -d lamps"}]
_EDIT = {"path": "lamps.py", "old": '"south"]', "new": '"south", "west"]'}
_LOG = "".join(f"- day {day}: nothing to report\n" for day in range(1, 61))
_TIDES = "# Tides\n\n- high at 06:10\n- low at 12:52\n- high at 18:40"


def _weighing(prefix: str) -> tuple[Turn, ...]:
    """Three commands, into files of their own: what would write over another one's is asked about again."""
    said = (f"wc -{flag} notes/boats.csv > {prefix}{flag}.txt" for flag in "cwl")
    return Turn("I weigh.", calls=tuple(Call("shell", {"command": one}) for one in said)), Turn("They are weighed.")


BUSY = Turn(status=503, error="overloaded, says this play")
PLAYS: dict[str, tuple[Turn, ...]] = {
    "summarise the tides": (
        Turn("I make a plan first.", calls=(Call("plan", _PLAN),)),
        Turn("I read the notes.", calls=(Call("read", {"path": "notes/tides.md"}),)),
        Turn("", calls=(Call("write", {"path": "SUMMARY.md", "text": "# Tides\n\nHigh at 06:10, low at 12:25.\n"}),)),
        Turn("The notes say: high water at 06:10, low water at 12:25."),
    ),
    "light the lamps": (
        Turn("I light them.", calls=(Call("shell", {"command": "touch lit && rm -f notes/old-*.md"}),)),
    ),
    "count the boats": (Turn("I count.", calls=(Call("shell", {"command": "wc -l notes/boats.csv > counted.txt"}),)),),
    "add the west lamp": (
        Turn("I look at the code.", calls=(Call("read", {"path": "lamps.py"}),)),
        Turn("", calls=(Call("edit", _EDIT),)),
        Turn("", calls=(Call("shell", {"command": "python3 -c 'import lamps; print(lamps.LAMPS)'"}),)),
        Turn("The west lamp is in the list now."),
    ),
    "tell me of the harbour": (Turn(STORY),),
    "tell it slowly": (Turn(STORY * 3, delay_s=0.05),),
    "tell it at length": (Turn(STORY * 60, delay_s=0.03),),
    "hang the west lamp": (
        Turn("I hang it.", calls=(Call("edit", _EDIT),)),
        Turn("", calls=(Call("shell", {"command": "curl -sSm 5 quay.example.com", "hosts": ["quay.example.com"]}),)),
        Turn("The west lamp hangs."),
    ),
    "sweep both quays": (
        Turn(
            "Both.",
            calls=(
                Call("shell", {"command": "rm -f notes/north-*.md"}),
                Call("shell", {"command": "rm -f notes/south-*.md"}),
                Call("shell", {"command": "rm -f notes/west-*.md"}),
            ),
        ),
        Turn("Both are swept."),
    ),
    "keep watch": (Turn("I watch.", calls=(Call("shell", {"command": "sleep 60"}),)),),
    "paint the quay": (
        Turn("I paint.", calls=(Call("write", {"path": "quay.txt", "text": "\u202etxt.yauq\u200b\n" * 60}),)),
        Turn("It is painted."),
    ),
    "ring the bell": (Turn("I ring.", calls=(Call("shell", {"command": "touch bell\u2066.txt"}),)), Turn("It rang.")),
    "keep the ferry in mind": (
        Turn("", calls=(Call("remember", {"items": [{"text": FERRY, "key": "ferry.sunday", "value": "nine"}]}),)),
        Turn("I keep it in mind."),
    ),
    "look at the plan": (
        Turn("I look.", calls=tuple(Call("read", {"path": path}) for path in ("plan.png", "offer.pdf"))),
        Turn("It is red."),
    ),
    "look outside": (
        Turn("I look.", calls=(Call("read", {"path": "../beside/secret.txt"}), Call("read", {"path": "/etc/passwd"}))),
        Turn("I see nothing there."),
    ),
    "write of both quays": (
        Turn("I write.", calls=(Call("edit", {"path": "README.md", "old": "# Quill", "new": "# Quays"}),)),
        Turn("", calls=(Call("edit", {"path": "notes/tides.md", "old": "# Tides", "new": "# Quays"}),)),
        Turn("Both are written."),
    ),
    "trim the wicks": (
        Turn("I make a plan first.", calls=(Call("plan", {"steps": [{"title": "Trim"}], "checks": _TRIMMED}),)),
        Turn("", calls=(Call("write", {"path": "wicks.txt", "text": "trimmed\n"}),)),
        Turn("The wicks are trimmed, all of them."),
    ),
    "test the harbour": (Turn("I run them.", calls=(Call("shell", {"command": "python3 -m unittest"}),)),),
    "write the log": (Turn("", calls=(Call("write", {"path": "log.md", "text": _LOG}),)), Turn("It is written.")),
    "correct the tides": (Turn("", calls=(Call("write", {"path": "notes/tides.md", "text": _TIDES}),)),),
    "weigh the boats": _weighing(""),
    "weigh the nets": _weighing("nets-"),
    "weigh the ropes": _weighing("ropes-"),
    "walk the quays": (
        Turn(
            "I look around first.",
            calls=(
                Call("read", {"path": "lamps.py"}),
                Call("read", {"path": "README.md"}),
                Call("grep", {"pattern": "high"}),
            ),
        ),
        Turn("", calls=(Call("edit", _EDIT),)),
        Turn("", calls=(Call("shell", {"command": "seq 8 && ls nowhere"}),)),
        Turn(WALK),
    ),
    "add a tide table": (
        Turn(
            "I look at the notes first.",
            calls=(Call("read", {"path": "notes/tides.md"}), Call("read", {"path": "README.md"})),
        ),
        Turn("", calls=(Call("write", {"path": "tides.py", "text": TABLE}),)),
        Turn("", calls=(Call("edit", {"path": "README.md", "old": "Read on.", "new": "Run `python3 tides.py`."}),)),
        Turn("", calls=(Call("shell", {"command": "python3 tides.py"}),)),
        Turn(TABLED),
    ),
    "push it": (
        Turn("", calls=(Call("shell", {"command": "git push"}), Call("shell", {"command": "git status"}))),
        Turn("A rule forbids it."),
    ),
    "colour the list": (
        Turn("", calls=(Call("shell", {"command": "printf '\\033[31mred lamp\\033[0m\\n'"}),)),
        Turn("It is red."),
    ),
    "be busy": (BUSY,),
    "fail": (Turn(status=400, error="the model of this play refuses"),),
}
DONE = Turn("Done.")


def play(seen: Seen) -> Turn:
    """The next turn of the play that the person's newest words name; "Done." when there is none, or it is over."""
    messages: list[dict[str, Any]] = seen.body["messages"]
    for at in range(len(messages) - 1, -1, -1):
        if messages[at]["role"] != "user":
            continue
        words = _NOTICE.sub("", str(messages[at]["content"])).lower()
        for phrase, turns in PLAYS.items():
            if phrase in words:
                told = sum(message["role"] == "assistant" for message in messages[at:])
                return turns[told] if told < len(turns) else DONE
    return DONE
