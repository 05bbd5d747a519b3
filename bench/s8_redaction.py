"""S8: how many secrets are found, how many ordinary texts are taken for one, and how fast.

Three sources, each with its own figure: vault values in every form and context; our own samples, made from the
published shape of each key; and the public vectors of gitleaks, read from a copy of its source where there is one
(``STEAD_GITLEAKS``: a folder with ``cmd/generate/config/rules`` and ``config/gitleaks.toml``, or a bare repository of
it). A harmless vector of one rule that another of gitleaks' own rules takes for a secret counts as neither.
"""

from __future__ import annotations

import io
import os
import random
import string
import subprocess
import sysconfig
import tarfile
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

from bench.bar import Bar
from bench.gitleaks_vectors import Vectors, read
from stead.domain.secrets import Known
from stead.screen.detection import entropy, standard
from stead.screen.engine import compiled, encoded
from stead.screen.redaction import Redactor
from tests.screen.test_redaction import all_forms
from tests.screen.vectors import made

VALUES = 300
CHUNK = 16 * 1024
ROOT = Path(__file__).parents[1]
BY_PATH = {"pkcs12-file", "kubernetes-secret-yaml", "hashicorp-tf-password", "nuget-config-password"}
"""Rules of gitleaks that look at the file's name, which a redactor has not."""


def measure() -> list[Bar]:
    """Shares in percent, speed in MB of text a second of processor time."""
    rng = random.Random(8)
    return [_vault(rng), *_detected(), _ordinary(), *_speed(rng)]


def _vault(rng: random.Random) -> Bar:
    found = total = 0
    for _ in range(VALUES):
        value = "".join(
            rng.choice(string.ascii_letters + string.digits + string.punctuation) for _ in range(rng.randint(8, 64))
        )
        redactor = Redactor([Known("n", "{{secret:n#0}}", value)], detect=False)
        for form in all_forms(value, rng).values():
            total += 1
            found += "{{secret:n#0}}" in redactor.clean(f"{rng.randbytes(9).hex()}\n{form} {rng.randbytes(9).hex()}")
    share = 100 * found / total
    said = f"{VALUES} random values of 8 to 64 signs, each in {total // VALUES} forms"
    return Bar("S8.vault", share, "% of known values", "100", found == total, {}, said)


def _detected() -> list[Bar]:
    samples = made()
    clean = Redactor().clean
    share = 100 * sum(secret not in clean(text) for _, secret, text in samples) / len(samples)
    said = f"{len(samples)} samples of our own shapes, each in six places, two of them with something after the secret"
    bars = [Bar("S8.own", share, "% of samples", "≥ 97", share >= 97, {"gitleaks, its own shapes": 90.6}, said)]
    with tempfile.TemporaryDirectory(prefix="stead-bench-") as name:
        if source := _source(Path(name)):
            bars += _public(read(source / "cmd/generate/config/rules"), source / "config/gitleaks.toml")
    return bars


def _source(folder: Path) -> Path | None:
    given = os.environ.get("STEAD_GITLEAKS", "")
    if given and (Path(given) / "config/gitleaks.toml").exists():
        return Path(given)
    if not given:
        return None
    tree = ["cmd/generate/config", "config/gitleaks.toml"]
    archive = subprocess.run(["git", "-C", given, "archive", "HEAD", *tree], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        packed.extractall(folder, filter="data")
    return folder


def _public(vectors: Vectors, config: Path) -> list[Bar]:
    find = standard().spans
    literal = [row for row in vectors.literal if row[0] not in BY_PATH]
    grown = [row for row in vectors.made if row[0] not in BY_PATH]
    shares = [100 * sum(bool(find(encoded(text))) for _, text in rows) / len(rows) for rows in (literal, grown)]
    takes = _taken_by_gitleaks(config)
    harmless = [row for row in vectors.harmless if row[0] not in BY_PATH and not takes(*row)]
    wrong = 100 * sum(bool(find(encoded(text))) for _, text in harmless) / len(harmless)
    said = f"gitleaks' public vectors without {len(BY_PATH)} rules that go by a file's name: "
    return [
        Bar("S8", shares[0], "% of public vectors", "≥ 97", shares[0] >= 97, {}, f"{said}{len(literal)} written out"),
        Bar(
            "S8.made",
            shares[1],
            "% of made vectors",
            "≥ 97",
            shares[1] >= 97,
            {},
            f"{said}{len(grown)} from its grammars",
        ),
        Bar(
            "S8.false",
            wrong,
            "% of harmless vectors",
            "≤ 1.5",
            wrong <= 1.5,
            {"detect-secrets": 94.7},
            f"{said}{len(harmless)} of {len(vectors.harmless)} that no other of its rules takes for a secret",
        ),
    ]


def _taken_by_gitleaks(config: Path) -> Callable[[str, str], bool]:
    """Whether another rule of gitleaks than the given takes a text for a secret, by its pattern and least entropy."""
    rules = [rule for rule in tomllib.loads(config.read_text("utf-8"))["rules"] if rule.get("regex", "é").isascii()]
    patterns = [(rule["id"], compiled(rule["regex"]), rule.get("entropy", 0)) for rule in rules]

    def takes(own: str, text: str) -> bool:
        return any(
            entropy(next((group for group in match.groups() if group), match.group())) >= least
            for rule, pattern, least in patterns
            if rule != own
            for match in pattern.finditer(encoded(text))
        )

    return takes


def _corpus() -> list[bytes]:
    sources = [
        path for path in Path(sysconfig.get_paths()["stdlib"]).rglob("*.py") if "site-packages" not in path.parts
    ]
    return [path.read_bytes() for path in [*sorted(sources), *sorted((ROOT / "docs").rglob("*.md"))]]


def _ordinary() -> Bar:
    files = _corpus()
    found = sum(len(standard().spans(content)) for content in files)
    lines = sum(content.count(b"\n") for content in files)
    rate = 1000 * found / lines
    said = f"Python's standard library and our documents: {found} finds in {lines} lines of {len(files)} files"
    return Bar("S8.ordinary", rate, "finds in 1,000 lines", "≤ 1.5", rate <= 1.5, {}, said)


def _speed(rng: random.Random) -> list[Bar]:
    text = b"\n".join(_corpus()).decode("utf-8", "replace")[: 8 << 20]
    chunks = [text[at : at + CHUNK] for at in range(0, len(text), CHUNK)]
    bars = []
    for name, count in (("S8.speed", 20), ("S8.speed-100", 100)):
        values = ["".join(rng.choices(string.ascii_letters + string.digits, k=40)) for _ in range(count)]
        redactor = Redactor([Known(f"n{n}", f"{{{{secret:n{n}#0}}}}", value) for n, value in enumerate(values)])
        redactor.clean(chunks[0])
        started = time.process_time()
        for chunk in chunks:
            redactor.clean(chunk)
        rate = len(text.encode()) / 1e6 / (time.process_time() - started)
        said = f"known values ({count} of 40 signs) and all shapes, in chunks of 16 KiB of source code; one thread"
        bars.append(Bar(name, rate, "MB/s", "≥ 5", rate >= 5, {"detect-secrets": 0.115}, said))
    return bars
