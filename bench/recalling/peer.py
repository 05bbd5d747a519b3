"""mem0 2.2.1 as it comes, with ``infer=False``, its local Qdrant store and our vectors, in an environment of its own.

What it would load over the network is not there: it is given vectors, and its BM25 leg, whose encoder is a download, is
off, as it is for everyone who runs it offline.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.recalling.data import Conversation
from bench.recalling.figures import Answer

ROOT = Path(__file__).parent.parent.parent
LOCK = ROOT / "requirements-mem0.lock"
WORKER = Path(__file__).parent / "mem0_worker.py"
_LONGEST_S = 900


def mem0_answers(
    conversation: Conversation, texts: Sequence[str], vectors: Sequence[Sequence[float]], k: int
) -> list[Answer]:
    """Its answers to every question of a conversation.

    Args:
        conversation: see there.
        texts: of its notes, as they are to be added.
        vectors: of the texts, then of the questions.
        k: how many hits.
    """
    asked = [question.text for question in conversation.questions]
    with tempfile.TemporaryDirectory(prefix="mem0-bench-") as folder:
        work = {"texts": list(texts), "asked": asked, "vectors": [list(vector) for vector in vectors], "k": k}
        (Path(folder) / "work.json").write_text(json.dumps(work), "utf-8")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "MEM0_DIR": folder,
            "MEM0_TELEMETRY": "False",
            "OPENAI_API_KEY": "none is used",
        }
        done = subprocess.run(
            [_python(), WORKER, folder],
            env=environment,
            timeout=_LONGEST_S,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"mem0 failed: {done.stderr[-2000:]}")
        found = json.loads((Path(folder) / "found.json").read_text("utf-8"))
    return [
        Answer(question, tuple(conversation.notes[at].id for at in places), took_ms)
        for question, (places, took_ms) in zip(conversation.questions, found, strict=True)
    ]


def _python() -> str:
    """The interpreter of mem0's environment, made if it is missing or made from another lock."""
    home = ROOT / "bench" / "out" / "mem0"
    python, stamp = home / "bin" / "python", home / "lock.sha256"
    wanted = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if not python.exists() or not stamp.exists() or stamp.read_text() != wanted:
        print("setting up mem0 in bench/out/mem0 ...", file=sys.stderr)
        uv = str(ROOT / ".uv" / "bin" / "uv")
        home.parent.mkdir(exist_ok=True)
        subprocess.run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, home], check=True, timeout=60)
        install = [uv, "pip", "install", "--quiet", "--require-hashes", "-r", str(LOCK), "--python", str(python)]
        subprocess.run(install, check=True, timeout=600)
        stamp.write_text(wanted)
    return str(python)
