"""The rules of the house that import contracts cannot express, each as a function from sources to findings.

A finding is one line: where, what, and the limit. ``tests/test_architecture.py`` runs them over the product, and over
planted snippets to show that each can fail.
"""

from __future__ import annotations

import ast
import io
import re
import statistics
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PURE = ("domain", "guardian", "brain", "screen")
FILE_LINES, FILE_LINES_MEDIAN = 500, 170
FUNCTION_LINES, FUNCTION_LINES_P95 = 70, 40
CLASS_LINES, CLASS_METHODS = 400, 20
PROTOCOL_METHODS = 5
CONSTRUCTOR_PARAMETERS = 7
TRUSTED_BASE_BAR = 4000
"""Lines of code that the trusted base is to have at most. It has more; docs/adr/0027 says how many, and why."""
TRUSTED_BASE_LINES = 11483
"""What it has: a ratchet, lowered with every line that goes, and raised by an ADR alone."""
TRUSTED_TABLE_LINES = 242
"""Likewise for its tables."""
BROAD_EXCEPTS_PER_KLOC = 1.5
PACKAGE_LINES = {
    "": 1196,
    "brain": 2877,
    "channels": 3154,
    "cli": 10581,
    "client": 431,
    "domain": 9015,
    "egress": 844,
    "guardian": 2444,
    "machines": 8037,
    "mcp": 1144,
    "memory": 4810,
    "net": 379,
    "notifiers": 377,
    "protocols": 1345,
    "providers": 3534,
    "runtime": 13099,
    "screen": 1527,
    "storage": 5155,
    "tools": 2579,
    "web": 3399,
}
"""Lines of code that each package may have at most; "" is for modules outside of packages. They only fall: a
change that removes code lowers the number, and only an ADR raises one."""
PACKAGE_SLACK = 60
"""Lines by which a package may lie below its number before the number is lowered."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
_PUT_OFF = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
_SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


@dataclass(frozen=True)
class Source:
    """One file. ``name`` is its path below the package, like ``guardian/decide.py``."""

    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.name)

    @property
    def lines(self) -> int:
        return len(self.text.splitlines())

    @property
    def filled_lines(self) -> int:
        """Lines that are not blank."""
        return sum(bool(line.strip()) for line in self.text.splitlines())

    @cached_property
    def code_lines(self) -> int:
        """Lines that hold code: no blank ones, no comments, no docstrings (docs/adr/0011)."""
        held: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in _SILENT:
                held.update(range(token.start[0], token.end[0] + 1))
        for node in ast.walk(self.tree):
            # A string that stands by itself documents what is before or around it.
            if (
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                held -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        return len(held)


def load(root: Path) -> list[Source]:
    """Every Python file below a folder, in order."""
    return [
        Source(path.relative_to(root).as_posix(), path.read_text("utf-8"))
        for path in sorted(root.rglob("*.py"))
        if not {"node_modules", "__pycache__"} & set(path.parts)
    ]


def package_lines(sources: Sequence[Source], most: Mapping[str, int] = PACKAGE_LINES) -> Iterator[str]:
    """Packages with more lines of code than they may have, and numbers that were not lowered."""
    lines: dict[str, int] = dict.fromkeys(most, 0)
    for source in sources:
        package = source.name.rpartition("/")[0].partition("/")[0]
        lines[package] = lines.get(package, 0) + source.code_lines
    for package, count in lines.items():
        limit = most.get(package, 0)
        if count > limit:
            yield f"{package or 'stead'}: {count} lines of code, {limit} are the most"
        elif count < limit - PACKAGE_SLACK:
            yield f"{package or 'stead'}: {count} lines of code; lower its number in PACKAGE_LINES from {limit}"


def sizes(sources: Sequence[Source]) -> Iterator[str]:
    """Files, functions, classes and constructors that are too large; medians once there is enough to speak of one."""
    lengths: list[int] = []
    for source in sources:
        if source.lines > FILE_LINES:
            yield f"{source.name}: {source.lines} lines, {FILE_LINES} are the most"
        for node in ast.walk(source.tree):
            if isinstance(node, Function):
                lengths.append(_length(node))
                if lengths[-1] > FUNCTION_LINES:
                    yield f"{source.name}: {node.name} has {lengths[-1]} lines, {FUNCTION_LINES} are the most"
            if isinstance(node, ast.ClassDef):
                yield from (f"{source.name}: {flaw}" for flaw in _class_flaws(node))
    real = [source.lines for source in sources if not source.name.endswith("__init__.py")]
    if len(real) >= 30:
        if (median := statistics.median(real)) > FILE_LINES_MEDIAN:
            yield f"the median file has {median:.0f} lines, {FILE_LINES_MEDIAN} are the most"
        if len(lengths) > 1 and (p95 := statistics.quantiles(lengths, n=20)[-1]) > FUNCTION_LINES_P95:
            yield f"95 % of functions have up to {p95:.0f} lines, {FUNCTION_LINES_P95} are the most"


def _length(node: Function | ast.ClassDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _class_flaws(node: ast.ClassDef) -> Iterator[str]:
    methods = [item for item in node.body if isinstance(item, Function)]
    if _length(node) > CLASS_LINES:
        yield f"{node.name} has {_length(node)} lines, {CLASS_LINES} are the most"
    if len(methods) > CLASS_METHODS:
        yield f"{node.name} has {len(methods)} methods, {CLASS_METHODS} are the most"
    if any(ast.unparse(base) == "Protocol" for base in node.bases) and len(methods) > PROTOCOL_METHODS:
        yield f"the protocol {node.name} has {len(methods)} methods, {PROTOCOL_METHODS} are the most"
    for method in methods:
        if method.name == "__init__":
            known = method.args
            yield from _wide(node, len(known.posonlyargs) + len(known.args) + len(known.kwonlyargs) - 1)
    if any(ast.unparse(one).startswith("dataclass(eq=False") for one in node.decorator_list):  # a part, and no data
        yield from _wide(node, sum(isinstance(item, ast.AnnAssign) for item in node.body))


def _wide(node: ast.ClassDef, count: int) -> Iterator[str]:
    if count > CONSTRUCTOR_PARAMETERS:
        yield f"{node.name}() takes {count} parameters, {CONSTRUCTOR_PARAMETERS} are the most"


def import_cycles(sources: Sequence[Source], package: str = "stead") -> Iterator[str]:
    """Modules that import each other, lazy and TYPE_CHECKING imports counted."""
    modules = {_module(source, package): source for source in sources}
    graph = {module: _imports(source, module, modules) for module, source in modules.items()}
    for group in _components(graph):
        if len(group) > 1 or group[0] in graph[group[0]]:
            yield "import cycle: " + " -> ".join(sorted(group))


def _module(source: Source, package: str) -> str:
    parts = source.name.removesuffix(".py").removesuffix("__init__").strip("/").replace("/", ".")
    return f"{package}.{parts}" if parts else package


def _imports(source: Source, module: str, known: Mapping[str, Source]) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = module.split(".")[: -node.level + source.name.endswith("__init__.py") or None]
                base = ".".join([*above, base]).rstrip(".")
            found |= {f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base for alias in node.names}
    return (found & known.keys()) - {module}


def _components(graph: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Strongly connected components: the modules that reach each other."""
    reach = {start: _reachable(graph, start) for start in graph}
    seen: set[str] = set()
    for start in graph:
        if start not in seen:
            group = [start, *(other for other in reach[start] if other != start and start in reach[other])]
            seen |= set(group)
            yield group


def _reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    todo = list(graph[start])
    while todo:
        if (module := todo.pop()) not in seen:
            seen.add(module)
            todo += graph[module]
    return seen


def permits_built(sources: Sequence[Source]) -> Iterator[str]:
    """Places outside guardian/decide.py where ``Permit`` is used as anything but a type."""
    for source in sources:
        if source.name in ("guardian/decide.py", "domain/permits.py") or "Permit" not in source.text:
            continue
        tree = source.tree
        typed = {id(part) for hint in _annotations(tree) for part in ast.walk(hint)}
        for node in ast.walk(tree):
            named = getattr(node, "id", None) == "Permit" or getattr(node, "attr", None) == "Permit"
            if named and isinstance(node, ast.expr) and id(node) not in typed:
                yield f"{source.name}:{node.lineno}: only guardian/decide.py builds a Permit"
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if alias.name == "Permit" and alias.asname:
                        yield f"{source.name}:{node.lineno}: Permit keeps its name"


def _annotations(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        hint = getattr(node, "annotation", None) or getattr(node, "returns", None)
        if isinstance(hint, ast.expr):
            yield hint


def broad_excepts(sources: Sequence[Source], allowed: Mapping[str, int]) -> Iterator[str]:
    """Handlers that catch everything, outside the files that may, or more of them than the whole may have.

    Args:
        sources: the package.
        allowed: how many each file may have: an actor's top, a door.
    """
    total = 0
    for source in sources:
        has_some = "except" in source.text or "suppress" in source.text
        found = [line for node in ast.walk(source.tree) if (line := _catches_all(node))] if has_some else []
        total += len(found)
        if len(found) > allowed.get(source.name, 0):
            yield f"{source.name}:{found}: {len(found)} broad excepts, {allowed.get(source.name, 0)} allowed"
    per_kloc = 1000 * total / max(1, sum(source.lines for source in sources))
    if total > 1 and per_kloc > BROAD_EXCEPTS_PER_KLOC:
        yield f"{total} broad excepts are {per_kloc:.1f} in 1,000 lines, {BROAD_EXCEPTS_PER_KLOC} are the most"


def _catches_all(node: ast.AST) -> int:
    """The line of a handler that hides whatever comes, else 0."""
    if isinstance(node, ast.ExceptHandler):
        # A handler that ends by raising the same error again hides nothing.
        passes_on = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
        return node.lineno if not passes_on and (node.type is None or _names_everything(node.type)) else 0
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
        return node.lineno if _names_everything(*node.args) else 0
    return 0


def _names_everything(*types: ast.expr) -> bool:
    names = {part.id for kind in types for part in ast.walk(kind) if isinstance(part, ast.Name)}
    return bool(names & {"Exception", "BaseException"})


def impure(sources: Sequence[Source]) -> Iterator[str]:
    """Calls in the pure packages that reach the world without an import that a contract could see."""
    banned = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}
    methods = re.compile(
        r"(datetime\.)?(datetime|date)\.(now|utcnow|today)|urllib\.request\..*|sys\.std(in|out|err)\..*"
    )
    for source in sources:
        if source.name.split("/")[0] not in PURE:
            continue
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                if name in banned or methods.fullmatch(name):
                    yield f"{source.name}:{node.lineno}: {name}() in a pure package"


def leftovers(sources: Sequence[Source]) -> Iterator[str]:
    """Comments that put work off."""
    for source in sources:
        if not _PUT_OFF.search(source.text):
            continue
        for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
            if token.type == tokenize.COMMENT and _PUT_OFF.search(token.string):
                yield f"{source.name}:{token.start[0]}: {token.string.strip()}"


def drawers(names: Iterable[str]) -> Iterator[str]:
    """Modules and folders whose name says nothing."""
    for name in names:
        for part in name.removesuffix(".py").split("/"):
            if re.fullmatch(r"_?(utils?|helpers?|managers?|common|misc|shared|stuff)", part):
                yield f"{name}: {part!r} says nothing; name it by its noun"


def mocks(sources: Sequence[Source]) -> Iterator[str]:
    """Tests that put a mock in place of our own code. Making a constant smaller is none."""
    for source in sources:
        if "mock" not in source.text and "setattr" not in source.text:
            continue
        for node in ast.walk(source.tree):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Call) and re.fullmatch(r"(monkeypatch|mp)\.setattr", ast.unparse(node.func)):
                constant = any(re.fullmatch(r"'(.*\.)?_?[A-Z][A-Z_0-9]*'", ast.unparse(arg)) for arg in node.args[:2])
                names = [] if constant else ["setattr"]
            for name in names:
                if re.match(r"(unittest\.mock|mock|pytest_mock)(\.|$)|setattr$", name):
                    yield f"{source.name}:{getattr(node, 'lineno', 0)}: {name}: hand a real part in instead"


@dataclass(frozen=True)
class TrustedBase:
    """What has to be right for the product's promises to hold (docs/adr/0011); names below the package.

    Args:
        members: files, and folders that end in a slash.
        tables: of the members, those that are data and are counted apart.
        confined: of the members' folders, files that can do no harm when they lie: not in the base.
    """

    members: tuple[str, ...]
    tables: tuple[str, ...] = ()
    confined: tuple[str, ...] = ()

    def code(self, sources: Sequence[Source]) -> list[Source]:
        """The base without its tables."""
        inside = [source for source in sources if source.name.startswith(self.members)]
        return [source for source in inside if source.name not in (*self.tables, *self.confined)]

    def data(self, sources: Sequence[Source]) -> list[Source]:
        """Its tables."""
        return [source for source in sources if source.name in self.tables]


def trusted_base(sources: Sequence[Source], base: TrustedBase) -> Iterator[str]:
    """Whether what must be trusted has grown."""
    if (lines := sum(source.code_lines for source in base.code(sources))) > TRUSTED_BASE_LINES:
        yield f"the trusted base has {lines} lines of code, {TRUSTED_BASE_LINES} are the most"
    if (lines := sum(source.code_lines for source in base.data(sources))) > TRUSTED_TABLE_LINES:
        yield f"the trusted base has {lines} lines of tables, {TRUSTED_TABLE_LINES} are the most"


def undocumented(sources: Sequence[Source]) -> Iterator[str]:
    """Modules that do not say which layer they are, and public names without a docstring.

    A function whose body is one statement may go without: its name and signature say all, or it overrides one that is
    documented.
    """
    for source in sources:
        tree = source.tree
        first = ast.get_docstring(tree) or ""
        if not first or ("Layer:" not in first and not source.name.endswith("__.py")):
            yield f"{source.name}: its docstring says 'Layer: ...' and what it must not know"
        for owner, node in _public(tree.body, ""):
            if not ast.get_docstring(node) and (isinstance(node, ast.ClassDef) or len(node.body) > 1):
                yield f"{source.name}:{node.lineno}: {owner}{node.name} has no docstring"


def _public(body: Sequence[ast.stmt], owner: str) -> Iterator[tuple[str, Function | ast.ClassDef]]:
    for node in body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield owner, node
            if isinstance(node, ast.ClassDef):
                yield from _public(node.body, f"{owner}{node.name}.")
