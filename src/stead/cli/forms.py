"""Commands as data: their arguments, what they ask of the daemon, and how the answer is shown.

Layer: cli. A row of a family is a name, a summary, arguments and what is done: a ``Listing``, an ``Act``, or a function
where a command is more than one request and its answer. What is shown is a template (``templates.py``).
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from stead.cli.finding import Kind, call_key, find_objective, find_session
from stead.cli.invocation import FAILED, OK, Command, CommandError, Invocation, with_id
from stead.cli.templates import fill, lines, table

if TYPE_CHECKING:
    from stead.client import Client, Json

Run: TypeAlias = "Callable[[Invocation, Namespace], int] | Listing | Act"
"""What a command does; gives the exit code."""
Find: TypeAlias = "Callable[[Client, str], Any] | Kind"
"""From what a person types to what is meant; see ``finding.py``."""
_PAGE = 200


class Argument(NamedTuple):
    """One argument of a command, as ``argparse`` takes it; with ``find``, what is typed is looked up before it runs."""

    words: tuple[str, ...]
    settings: dict[str, Any]
    find: Find | None = None

    def add(self, parser: Any) -> None:
        """Declare it to a parser, or a group of one."""
        vars(parser.add_argument(*self.words, **self.settings))["find"] = self.find  # for completion

    def resolve(self, invocation: Invocation, arguments: Namespace) -> None:
        """Put what is meant in the place of what was typed."""
        name = self.settings.get("dest") or self.words[-1].lstrip("-").replace("-", "_")
        if self.find is None or not (typed := getattr(arguments, name)):
            return
        if isinstance(typed, list):
            setattr(arguments, name, list(dict.fromkeys(self.find(invocation.client, one) for one in typed)))
        else:
            setattr(arguments, name, self.find(invocation.client, typed))


class OneOf:
    """Arguments that exclude each other."""

    def __init__(self, *arguments: Argument, required: bool = False) -> None:
        self.arguments = arguments
        self.required = required

    def add(self, parser: ArgumentParser) -> None:
        """Declare them to a parser."""
        group = parser.add_mutually_exclusive_group(required=self.required)
        for argument in self.arguments:
            argument.add(group)

    def resolve(self, invocation: Invocation, arguments: Namespace) -> None:
        """Put what is meant in the place of what was typed."""
        for argument in self.arguments:
            argument.resolve(invocation, arguments)


Row = tuple[str, tuple[Argument | OneOf, ...], Run]
"""One of several commands: what the help says of it, its arguments, and what it does."""


def arg(words: str, help: str = "", find: Find | None = None, **settings: Any) -> Argument:
    """One argument, written as people read it.

    ``"--all"`` is a flag, ``"--note TEXT"`` has a value ("" where it is not given), ``"--kind KIND..."`` may be given
    again; ``"id ID"`` is a word by its place, ``"[id ID]"`` may be left out, ``"ids ID..."`` are one or more,
    ``"[ids ID...]"`` any. Choices stand in the help as words: a list would be the longest line of it.

    Args:
        words: its names, and what the help calls its value.
        help: what it is for.
        find: from what is typed to what is meant.
        settings: as ``argparse`` takes them.
    """
    optional, again = words.startswith("["), words.rstrip("]").endswith("...")
    *names, metavar = words.strip("[].").split()
    if metavar.startswith("-"):
        return Argument((*names, metavar), {"action": "store_true", "help": help, **settings}, find)
    given: dict[str, Any] = {"metavar": metavar, "default": [] if again else ""}
    named = [help, ", ".join(settings.get("choices", ()))]
    if not names[0].startswith("-"):
        given["nargs"] = ("*" if optional else "+") if again else "?" if optional else None
    elif again:
        given["action"] = "append"
    given["help"] = ": ".join(filter(None, named)) + ("; repeatable" if "action" in given else "")
    return Argument(tuple(names), {**given, **settings}, find)


def number(words: str, default: int, help: str, least: int = 1, most: int = 0) -> Argument:
    """An option with a whole number.

    Args:
        words: such as ``"-n --limit N"``.
        default: where it is not given.
        help: what it is for.
        least: the smallest that is taken.
        most: the largest; 0 for any.
    """
    name = words.split()[0]

    def whole_number(typed: str) -> int:
        value = int(typed)
        if value < least or (most and value > most):
            limits = f"between {least} and {most}" if most else "positive" if least else "0 or more"
            raise CommandError(f"{name} {value} is not {limits}", f"{name} {default or least}")
        return value

    return arg(words, help, type=whole_number, default=default)


OBJECTIVE = arg("id ID", "of the objective, or its beginning", find_objective)
SESSION = arg("id ID", "of the session, or its beginning", find_session)
CALL = arg("key KEY", "of the call, such as call_2_0", call_key)
YES = arg("--yes", "do not ask")
ALL = arg("--all", "every one, not only the newest 20")


def command(does: Run, *declared: Argument | OneOf, usage: str | None = None) -> Command:
    """One command: what it does, its arguments, and how the help sums them up (else as ``argparse`` does)."""

    def configure(parser: ArgumentParser) -> None:
        parser.usage = usage
        for argument in declared:
            argument.add(parser)

    def run(invocation: Invocation, arguments: Namespace) -> int:
        for argument in declared:
            argument.resolve(invocation, arguments)
        return does(invocation, arguments)

    return Command(configure, run)


def family(name: str, rows: Mapping[str, Row], default: str = "") -> Command:
    """A command that has several below it; ``default`` is the one that is meant where none is named, "" for none."""

    def configure(parser: ArgumentParser) -> None:
        # The defaults are for a session's terminal, which parses commands and may not import their modules.
        parser.set_defaults(carry_out=run, names=tuple(rows))
        parsers = parser.add_subparsers(dest="part", metavar="ACTION", required=not default, parser_class=type(parser))
        for part, (summary, declared, does) in rows.items():
            described = parsers.add_parser(part, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
            command(does, *declared).configure(described)

    def run(invocation: Invocation, arguments: Namespace) -> int:
        if not arguments.part:
            arguments = invocation.parser_of(name).parse_args([default], arguments)
        _, declared, does = rows[arguments.part]
        return command(does, *declared).run(invocation, arguments)

    return Command(configure, run)


def fields(*names: str, **given: Any) -> Callable[[Namespace], Json]:
    """A request's body: arguments by their names, and what is given always."""
    return lambda arguments: {**{name: getattr(arguments, name) for name in names}, **given}


_NOTHING = fields()


class Listing(NamedTuple):
    """A command that lists rows: JSON objects, a table, or the sentence for when there are none.

    ``path`` may name arguments, those of ``query`` are sent along, and ``view`` makes of a row what ``columns`` name.
    With ``newest``, so many rows are shown unless the arguments have ``limit`` or ``all``. ``more`` is said below them.
    """

    path: str
    columns: str
    none: str
    query: tuple[str, ...] = ()
    newest: int = 0
    view: Callable[[Json], Json] = dict
    more: str = ""

    def __call__(self, invocation: Invocation, arguments: Namespace) -> int:
        """Ask, and show."""
        return self.show(invocation, self.rows(invocation.client, arguments), arguments)

    def rows(self, client: Client, arguments: Namespace) -> list[Json]:
        """The rows that are wanted."""
        given = vars(arguments)
        query = {name: given[name] for name in self.query}
        most = 0 if given.get("all") else given.get("limit", self.newest)
        if self.newest:
            query["limit"] = min(most or _PAGE, _PAGE)
        found = client.items(fill(self.path, given), **query)
        return list(islice(found, most) if most else found)

    def show(
        self, invocation: Invocation, rows: list[Json], arguments: Namespace, view: Callable[[Json], Json] | None = None
    ) -> int:
        """Show rows that were found, as ``view`` sees them, else the listing's own."""
        out, see = invocation.out, view or self.view
        if out.as_json:
            for row in rows:
                out.json(with_id(row))
        elif rows:
            table(out, self.columns, [see(row) for row in rows])
            for line in lines(self.more, vars(arguments)):
                out.line(f"\n{line}")
        else:
            out.line(fill(self.none, vars(arguments)))
        return OK


class Act(NamedTuple):
    """A command that changes something and prints the result.

    ``request`` is a method and a path, which may name arguments. ``done`` is said of the arguments and the answer's
    fields together, and of the row that is at ``about``. With ``confirm``, the person is asked first (and ``--yes`` is
    among the arguments); what destroys something always asks. ``makes``: the field of the answer that names what was
    made, which is its ``id`` then. With ``tests``, it fails where the answer is not ``ok``.
    """

    request: str
    done: str | Callable[[Json], str]
    body: Callable[[Namespace], Json] = _NOTHING
    confirm: str = ""
    about: str = ""
    timeout_s: float = 30.0
    makes: str = ""
    tests: bool = False

    def __call__(self, invocation: Invocation, arguments: Namespace) -> int:
        """Send the request, and print the result."""
        client, given = invocation.client, vars(arguments)
        if self.about:
            given = {**client.get(fill(self.about, given)), **given}
        method, _, path = fill(self.request, given).partition(" ")
        if self.confirm:
            word = given.get("part") or path.rpartition("/")[2]
            invocation.confirm(word, fill(self.confirm, given), yes=arguments.yes)
        answer = client.command(method, path, self.body(arguments), self.timeout_s)
        said = {**given, **answer}
        if self.makes:
            answer = {"id": answer[self.makes], **answer}
        invocation.report(answer, *(lines(self.done, said) if isinstance(self.done, str) else [self.done(said)]))
        return FAILED if self.tests and not answer["ok"] else OK
