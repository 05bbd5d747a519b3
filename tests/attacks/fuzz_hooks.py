"""What Schemathesis is told beside the document: things that only this home knows. Loaded by it, in its own process.

Requests that are meant to be accepted name a folder that exists and a server on loopback. Requests that are meant to be
refused stay as they were made.
"""

from __future__ import annotations

import os
from typing import Any

import schemathesis

_ASKS = "Run `ls` and report"
"""A goal whose work asks a question, so that there are questions to answer."""


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case[Any], kwargs: dict[str, Any]) -> None:
    """Make an acceptable body acceptable here, too."""
    if case.meta is None or not case.meta.generation.mode.is_positive or not isinstance(case.body, dict):
        return
    if case.operation.label == "POST /objectives":
        known: dict[str, Any] = {"directory": os.environ["FUZZ_FOLDER"], "tools": [], "allow": [], "chain": []}
        if case.meta.phase.name == "stateful":
            known["goal"] = _ASKS
        case.body |= {name: value for name, value in known.items() if name in case.body}
    elif case.operation.label == "POST /providers":
        case.body |= {"preset": "compatible", "base_url": "http://127.0.0.1:9/v1"}
    elif case.operation.label == "POST /chain":
        case.body = {"chain": []}
