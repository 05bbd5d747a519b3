"""Recall on one set of data by one system: ``python -m bench.memory --data locomo --path FILE --system stead``.

Args on the command line:
    --data: ``locomo`` or ``beam`` (questions about conversations), or ``pmb`` (which beliefs belong to a question).
    --path: the file or folder; see ``recalling.data``. For ``pmb`` the fixtures that lie in ``bench/data`` are the
        default. ``STEAD_BENCH_DATA`` stands for a folder with ``memory/locomo-dev.json`` and ``memory/beam.json``.
    --system: ``stead``, ``bm25``, ``rrf`` or ``mem0``.
    --chats: the conversations are fed as chats of a person with an assistant.
    --no-embedder: words and names alone, as when the embedder is dead.
    --json: for programs.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bench.recalling import otherwise, precision
from bench.recalling.data import APART, Conversation, as_chats, conversations
from bench.recalling.figures import Answer, Figures, by_category, figures, quantile_ms
from bench.recalling.systems import answers
from stead.memory.embedding.embedder import Embedder

FILES = {"locomo": "memory/locomo-dev.json", "beam": "memory/beam.json"}
SYSTEMS = ("stead", "bm25", "rrf", "mem0")


class Precision(msgspec.Struct, frozen=True):
    """Of PrecisionMemBench: how many sets were exact, of how many; means; what may never be."""

    exact: int
    cases: int
    precision: float
    recall: float
    wrong: int
    exact_turns: int
    turns: int
    drifted: int
    missed: tuple[str, ...]


def located(data: str) -> Path | None:
    """Where a set of data lies, as ``STEAD_BENCH_DATA`` says; nothing when it is not there."""
    root = os.environ.get("STEAD_BENCH_DATA", "")
    path = Path(root) / FILES[data]
    return path if root and path.exists() else None


def recall(path: Path, system: str, *, vectors: bool, chats: bool = False) -> list[Answer]:
    """Every answer of a system to the questions of a set, whose conversations may be fed as chats with an assistant."""
    data = conversations(path)
    return asyncio.run(_recall([as_chats(one) for one in data] if chats else data, system, vectors=vectors))


def asked_otherwise(*, vectors: bool) -> otherwise.Otherwise:
    """Whether Stead tells what is asked for in other words, and is silent where nothing is."""
    return asyncio.run(_otherwise(vectors=vectors))


def judge(path: Path, *, vectors: bool) -> Precision:
    """PrecisionMemBench, by Stead."""
    cases, turns = asyncio.run(_judge(path, vectors=vectors))
    return Precision(
        exact=sum(case.exact for case in cases),
        cases=len(cases),
        precision=statistics.fmean(case.precision for case in cases),
        recall=statistics.fmean(case.recall for case in cases),
        wrong=sum(len(case.wrong) for case in (*cases, *turns)),
        exact_turns=sum(turn.exact for turn in turns),
        turns=len(turns),
        drifted=sum(len(turn.drifted) for turn in turns),
        missed=tuple(f"{one.name}: {_difference(one)}" for one in (*cases, *turns) if not one.exact),
    )


def main(arguments: Sequence[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", choices=(*FILES, "pmb"), required=True)
    parser.add_argument("--path", type=Path)
    parser.add_argument("--system", choices=SYSTEMS, default="stead")
    parser.add_argument("--chats", action="store_true")
    parser.add_argument("--no-embedder", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    vectors = not options.no_embedder
    if options.data == "pmb":
        if options.system != "stead":
            parser.error("only stead is judged by beliefs")
        _print_precision(judge(options.path or precision.DATA, vectors=vectors), plain=options.json)
        return 0
    path = options.path or located(options.data)
    if path is None or not path.exists():
        parser.error(f"the data are not there; name them by --path, or a folder by STEAD_BENCH_DATA ({FILES})")
    given = recall(path, options.system, vectors=vectors, chats=options.chats)
    fed = " as chats" if options.chats else ""
    _print_recall(
        given, f"{options.data}{fed} {options.system}{'' if vectors else ', no embedder'}", plain=options.json
    )
    return 0


async def _recall(data: Sequence[Conversation], system: str, *, vectors: bool) -> list[Answer]:
    embedder = await _embedder() if vectors and system != "bm25" else None
    try:
        return [one for conversation in data for one in await answers(system, conversation, embedder)]
    finally:
        if embedder:
            await embedder.close()


async def _otherwise(*, vectors: bool) -> otherwise.Otherwise:
    embedder = await _embedder() if vectors else None
    try:
        return await otherwise.judged(embedder)
    finally:
        if embedder:
            await embedder.close()


async def _judge(path: Path, *, vectors: bool) -> tuple[list[precision.Judged], list[precision.Judged]]:
    embedder = await _embedder() if vectors else None
    try:
        return await precision.judge(path, embedder)
    finally:
        if embedder:
            await embedder.close()


async def _embedder() -> Embedder:
    embedder = Embedder()
    await embedder.ready(deadline_s=300)
    return embedder


def _print_recall(given: list[Answer], name: str, *, plain: bool) -> None:
    total, categories = figures(given), by_category(given)
    times = {"p50_ms": round(quantile_ms(given, 0.5), 2), "p95_ms": round(quantile_ms(given, 0.95), 2)}
    if plain:
        print(msgspec.json.encode({"name": name, "total": total, "by_category": categories, **times}).decode())
        return
    print(f"{name}: {len(given)} questions, p50 {times['p50_ms']} ms, p95 {times['p95_ms']} ms")
    print(f"{'':32} R@5    R@10   hit@10 nDCG@10 MRR    n")
    apart = categories.pop(APART, None)
    for category, some in categories.items():
        print(_line(category, some))
    print(_line("all of these", total))
    if apart:
        print(_line(f"{APART}, apart", apart))


def _line(name: str, some: Figures) -> str:
    shown = (some.recall_5, some.recall_10, some.hit_10, some.ndcg_10, some.mrr)
    return f"{name:32} {'  '.join(f'{figure:.3f}' for figure in shown)}  {some.questions}"


def _print_precision(found: Precision, *, plain: bool) -> None:
    if plain:
        print(msgspec.json.encode(found).decode())
        return
    print(f"{found.exact} of {found.cases} exact, precision {found.precision:.3f}, recall {found.recall:.3f}")
    print(f"superseded, resolved or another user's: {found.wrong}")
    print(f"turns of sessions: {found.exact_turns} of {found.turns} exact, drifted {found.drifted}")
    for one in found.missed:
        print(f"  {one}")


def _difference(one: precision.Judged) -> str:
    lacks, extra = sorted(one.wanted - one.found), sorted(one.found - one.wanted)
    return f"lacks {', '.join(lacks) or 'nothing'}, has {', '.join(extra) or 'nothing'} too much"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
