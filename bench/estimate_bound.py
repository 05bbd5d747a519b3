"""How far the bound of ``brain/estimate.py`` lies above real tokenizers, and whether it ever lies below.

Not one of the bars: it runs by hand, when the word list or the rules of the bound change, because the vocabularies are
large and are not ours to ship. Get them once with ``npm install js-tiktoken`` in any folder, then::

    python -m bench.estimate_bound FOLDER/node_modules/js-tiktoken/dist/ranks [FILE...]

It tries the bound on windows of the files given (this repository's by default), on random vocabulary entries, on random
mixtures and on the standing categories below, and checks the four facts that the bound stands on.
"""

from __future__ import annotations

import base64
import json
import random
import string
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import tiktoken

from stead.brain import estimate

VOCABULARIES = ("o200k_base", "cl100k_base")
TRIES = 20_000
_FREE = "abcdefghilmnoprstuw"


def main(folder: Path, files: list[Path]) -> int:
    """Print the slack of each category; gives how many texts had more tokens than their bound."""
    encodings = {name: vocabulary(folder / f"{name}.js", name) for name in VOCABULARIES}
    broken = [f"{name}: {flaw}" for name, encoding in encodings.items() for flaw in _broken_facts(encoding)]
    texts = {path.name: path.read_text("utf-8") for path in files or sorted(Path().glob("src/stead/**/*.py"))}
    below = 0
    for category, text in _categories("\n".join(texts.values())).items():
        bound = estimate.estimate_tokens(text)
        slack = {name: bound / len(encoding.encode(text)) for name, encoding in encodings.items()}
        print(f"{category:14} " + "  ".join(f"{name} {ratio:.2f}" for name, ratio in slack.items()))
        below += any(ratio < 1 for ratio in slack.values())
    for text in _tries(list(texts.values()), encodings):
        bound = estimate.estimate_tokens(text)
        for name, encoding in encodings.items():
            if len(encoding.encode(text, disallowed_special=())) > bound:
                print(f"BELOW by {name}: {text!r}")
                below += 1
    for flaw in broken:
        print(flaw)
    speed = _speed("hello world, this is some text. " * 40_000)
    print(f"{speed:.0f} MB/s; {below} texts below, {len(broken)} facts broken")
    return below + len(broken)


def vocabulary(path: Path, name: str) -> tiktoken.Encoding:
    source = path.read_text("utf-8")
    data = json.loads(source[source.index("{") : source.rindex("}") + 1])
    ranks: dict[bytes, int] = {}
    for line in data["bpe_ranks"].split("\n"):
        _, first, *tokens = line.split(" ")
        ranks |= {base64.b64decode(token): int(first) + at for at, token in enumerate(tokens)}
    return tiktoken.Encoding(name, pat_str=data["pat_str"], mergeable_ranks=ranks, special_tokens={})


def _broken_facts(encoding: tiktoken.Encoding) -> Iterator[str]:
    """Facts 2 to 4 of the bound, held against a vocabulary."""

    def tokens(text: str) -> int:
        return len(encoding.encode(text, disallowed_special=()))

    pairs = [one + other for one in _FREE for other in _FREE] + [f" {letter}" for letter in _FREE]
    pairs += [f" {mark}" for mark in string.punctuation]
    yield from (f"{pair!r} is no token" for pair in pairs if tokens(pair) != 1)
    yield from (f"{count} spaces are no token" for count in range(1, 17) if tokens(" " * count) != 1)
    for word in estimate._WORDS.split():
        if tokens(word) != 1 or tokens(f" {word}") != 1:
            yield f"{word!r} is no token"
        for mark in (*string.punctuation, "\n", "\t"):
            if tokens(mark + word) > 2:
                yield f"{mark + word!r} is more than two tokens"


def _categories(code: str) -> dict[str, str]:
    chance = random.Random(1)
    rows = [{"id": at, "name": chance.choice(["alpha", "beta"]), "value": chance.random()} for at in range(1000)]
    prose = "\n".join(Path(name).read_text("utf-8") for name in ("README.md", *map(str, Path("docs").glob("*.md"))))
    return {
        "prose": prose,
        "code": code,
        "json": json.dumps(rows, indent=2),
        "chinese": "请阅读该文件并写出摘要。其中包括所有标题。今天天气很好。我们去公园散步吧。" * 20,
        "rare hanzi": "".join(chr(chance.randrange(0x4E00, 0x9FFF)) for _ in range(2000)),
        "japanese": "昨日、友達と一緒に映画を見に行きました。とても面白かったです。" * 20,
        "emoji": "😀🎉👨‍👩‍👧‍👦🏳️‍🌈" * 50,
        "base64": base64.b64encode(chance.randbytes(30_000)).decode(),
        "hex": chance.randbytes(20_000).hex(),
        "digits": "".join(chance.choice(string.digits) for _ in range(20_000)),
        "random bytes": chance.randbytes(20_000).decode("latin-1"),
        "letters": "".join(chance.choice(string.ascii_lowercase) for _ in range(20_000)),
    }


def _tries(texts: list[str], encodings: dict[str, tiktoken.Encoding]) -> Iterator[str]:
    chance = random.Random(2)
    words = estimate._WORDS.split()
    letters = string.printable + "    éÅ中😀"
    for _ in range(TRIES):
        text = chance.choice(texts)
        at = chance.randrange(len(text))
        yield text[at : at + chance.choice((1, 2, 3, 5, 8, 13, 40, 200))]
        yield "".join(
            chance.choice(letters) if chance.random() < 0.6 else chance.choice((" ", "")) + chance.choice(words)
            for _ in range(chance.randrange(1, 8))
        )
        for encoding in encodings.values():
            entries = [chance.randrange(encoding.n_vocab - 1000) for _ in range(chance.randrange(1, 6))]
            yield encoding.decode(entries)


def _speed(text: str) -> float:
    began = time.process_time()
    for _ in range(5):
        estimate.estimate_tokens(text)
    return 5 * len(text) / (time.process_time() - began) / 1e6


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(min(main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]]), 1))
