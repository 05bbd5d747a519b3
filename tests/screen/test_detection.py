from __future__ import annotations

import base64
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from stead.screen.detection import Detector
from stead.screen.engine import ENGINE
from stead.screen.redaction import Redactor
from stead.screen.secret_names import named_rules
from stead.screen.secret_rules import token_rules
from tests.screen.vectors import made

RULES = token_rules() + named_rules()
SAMPLES = made()
KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEAx9vQ2Wm3\n" * 8 + "-----END RSA PRIVATE KEY-----"
JWT = ".".join(
    base64.urlsafe_b64encode(part).decode().rstrip("=")
    for part in (b'{"alg":"HS256","typ":"JWT"}', b'{"sub":"12","name":"Ann Example"}', b"0123456789abcdefghij")
)


def test_every_shape_is_found_wherever_it_stands() -> None:
    missed = [(rule, text) for rule, secret, text in SAMPLES if secret in Redactor().clean(text)]
    assert len(SAMPLES) > 1000
    assert len(missed) / len(SAMPLES) < 0.01, missed[:10]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (KEY, "[redacted: private-key]"),
        (f"a\n{KEY}\nb", "a\n[redacted: private-key]\nb"),
        (KEY.replace("\n", "\\n"), "[redacted: private-key]"),
        (KEY.partition("-----END")[0].strip(), "[redacted: private-key]"),
        (f"Authorization: Bearer {JWT}", "Authorization: Bearer [redacted: authorization-header]"),
        (f"token {JWT}.", "token [redacted: jwt]."),
        ("postgres://app:s3cr3t-Pw@db.example.com/x", "postgres://app:[redacted: url-password]@db.example.com/x"),
        ("curl -u ann:hJ3kL9mQ2x https://a.example", "curl -u [redacted: curl-user] https://a.example"),
        ('curl -H "X-Api-Key: 4fq9-k2Lm-x8"', 'curl -H "X-Api-Key: [redacted: key-header]"'),
        ("db_password = 'tR4x-9vQz!p'", "db_password = '[redacted: assigned-password]'"),
        ("MY_SECRET=k3J9xQ2mZ7vL4pR8tB6n", "MY_SECRET=[redacted: assigned-secret]"),
        (
            "kind: Secret\ndata:\n  key: aHVudGVyMnh5eg==\n",
            "kind: Secret\ndata:\n  key: [redacted: kubernetes-secret]\n",
        ),
    ],
)
def test_shapes_of_fixed_places_are_found(text: str, left: str) -> None:
    assert Redactor().clean(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "password = os.environ['PASSWORD']",
        "token: str = field(default='')",
        "https://user:password@example.com",
        "postgres://app:${DB_PASSWORD}@db/x",
        "key_name = 'prod-signing-key-2024'",
        "primary_key = 'customer_id_2024_v2'",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "x" * 36,
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "sha256:" + "9f86d081884c7d65" * 4,
        "id 123e4567-e89b-12d3-a456-426614174000",
        "the secret of good prose: short sentences1",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Redactor().find(text) == ()


def test_ordinary_code_is_left_alone() -> None:
    sources = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[:60]
    text = "\n".join(source.read_text("utf-8", "replace") for source in sources)
    assert len(Redactor().find(text)) <= len(text.splitlines()) / 5000


def test_both_engines_find_the_same() -> None:
    first, second = Detector(RULES, engine="re2"), Detector(RULES, engine="re")
    for _, _, text in SAMPLES[::3]:
        assert sorted(first.spans(text.encode())) == sorted(second.spans(text.encode())), text


def test_without_its_library_the_other_engine_does_the_work() -> None:
    program = (
        "import sys; sys.modules['re2'] = None\n"
        "from stead.screen.engine import ENGINE\n"
        "from stead.domain.secrets import Known\n"
        "from stead.screen.redaction import Redactor\n"
        "from stead.screen.outgoing import links\n"
        "one = Redactor([Known('n', '{{secret:n#0}}', 'Zq7-Lw3/Rt9+Vb2')])\n"
        "print(ENGINE, one.clean('Zq7-Lw3%2FRt9%2BVb2 ghp_' + 'aB3dE5fG7hJ9' * 3), links('evil.example/x'))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "re {{secret:n#0}} [redacted: github-token] ('https://evil.example/x',)\n", done.stderr


def test_names_of_rules_are_unique_and_steady() -> None:
    names = [rule.id for rule in RULES]
    assert len(names) == len(set(names)) >= 150
    assert ENGINE == "re2"
