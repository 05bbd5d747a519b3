"""Find code that nothing uses. `make check` runs it.

vulture does the finding, at the confidence at which it really finds something. Fields of data types are left out: who
reads them is on the other side of a wire. What else is used from outside is in ``USED_FROM_OUTSIDE``, with the reason.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from vulture.core import Vulture

CONFIDENCE = 60

USED_FROM_OUTSIDE = {
    "CSS": "Textual reads it",
    "CharacterDataHandler": "expat calls it",
    "Discord": "channels.platforms names it",
    "ENABLE_COMMAND_PALETTE": "Textual reads it",
    "EndElementHandler": "expat calls it",
    "Matrix": "channels.platforms names it",
    "Signal": "channels.platforms names it",
    "Slack": "channels.platforms names it",
    "StartDoctypeDeclHandler": "expat calls it",
    "StartElementHandler": "expat calls it",
    "Teams": "channels.platforms names it",
    "Telegram": "channels.platforms names it",
    "WhatsApp": "channels.platforms names it",
    "__cause__": "Python shows it",
    "_create_socket": "imaplib calls it",
    "_get_socket": "smtplib calls it",
    "action_*": "Textual calls it",
    "buffer_text": "expat reads it",
    "capture_signals": "uvicorn calls it",
    "check_action": "Textual calls it",
    "complete_event": "prompt_toolkit gives it",
    "completions": "the OpenAI client's own attribute",
    "compose": "Textual calls it",
    "create": "the OpenAI client calls it",
    "create_client": "aioimaplib calls it",
    "cursor_blink": "Textual reads it",
    "describe": "scripts/gen_types.py calls it",
    "display": "Textual reads it",
    "get_completions": "prompt_toolkit calls it",
    "handle_comment": "the HTML parser calls it",
    "handle_data": "the HTML parser calls it",
    "handle_endtag": "the HTML parser calls it",
    "handle_startendtag": "the HTML parser calls it",
    "handle_starttag": "the HTML parser calls it",
    "log_errors": "google-re2 reads it",
    "main_loop": "uvicorn calls it",
    "max_mem": "google-re2 reads it",
    "on_done": "Textual calls it",
    "on_input_changed": "Textual calls it",
    "on_input_submitted": "Textual calls it",
    "on_mount": "Textual calls it",
    "on_news": "Textual calls it",
    "on_option_list_option_selected": "Textual calls it",
    "on_resize": "Textual calls it",
    "redirect_slashes": "Starlette reads it",
    "render": "Starlette calls it",
    "should_exit": "uvicorn reads it",
    "theme": "Textual reads it",
    "timeoutlen": "prompt_toolkit reads it",
    "trust_env": "requests reads it",
    "ttimeoutlen": "prompt_toolkit reads it",
    "userns_fd": "the kernel reads it",
}


def findings(paths: Sequence[Path], allowed: Sequence[str] = tuple(USED_FROM_OUTSIDE)) -> list[str]:
    """One line for each thing that is defined and never used."""
    vulture = Vulture(ignore_names=list(allowed))
    vulture.scavenge([str(path) for path in paths])
    data = {(path, line) for path in _files(paths) for line in _data_lines(ast.parse(path.read_text("utf-8")))}
    return [
        f"{item.filename}:{item.first_lineno}: {item.message}"
        for item in vulture.get_unused_code(min_confidence=CONFIDENCE)
        if (Path(item.filename).resolve(), item.first_lineno) not in data
    ]


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from ([path.resolve()] if path.is_file() else [found.resolve() for found in path.rglob("*.py")])


def _data_lines(tree: ast.Module) -> Iterator[int]:
    """Lines of fields, of members of enumerations, and of the parameters that a protocol only names."""
    data = {"Struct", "NamedTuple", "TypedDict", "StrEnum", "Enum", "Protocol"}
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        bases = {ast.unparse(base).split("[")[0].rpartition(".")[2] for base in node.bases}
        decorators = {ast.unparse(decorator).split("(")[0] for decorator in node.decorator_list}
        if bases & data or "dataclass" in decorators:
            data |= {node.name} if "Protocol" not in bases else set()
            yield from (item.lineno for item in node.body if isinstance(item, ast.AnnAssign | ast.Assign))
        if "Protocol" in bases:
            for method in node.body:
                if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                    parameters = [*method.args.posonlyargs, *method.args.args, *method.args.kwonlyargs]
                    yield from (parameter.lineno for parameter in parameters if parameter.arg != "self")


def main() -> int:
    """Print what is found; 1 when there is something."""
    found = findings([Path(__file__).parents[1] / "src"])
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
