"""What a person takes with them: a session as a page, a text or lines, and the questions that there were."""

from __future__ import annotations

import csv
import io
import json
import urllib.request
from pathlib import Path

from tests.fakes.models import Call, Turn
from tests.flows.house import LivingHome, use_model
from tests.flows.served import served
from tests.promises import promise

EVIL = '=HYPERLINK("https://example.com")<script>alert(1)</script>'


def worked(house: LivingHome, project: Path) -> str:
    """An objective of which one question was allowed and one denied."""
    run = {"command": "echo '<b>x</b>' > a.txt"}
    turns = [Turn("I write.", calls=(Call("shell", run),)), Turn("Again.", calls=(Call("shell", run),))]
    with served([*turns, Turn(f"Done. {EVIL}"), Turn("Done.")]) as model:
        use_model(house, model.openai)
        id = house.give("write a.txt <i>now</i>", project, title=EVIL)
        for answer in ("once", "deny"):
            house.wait(id, "waiting")
            (row,) = house.get("/approvals", session=id)["items"]
            path = f"/approvals/{row['id']}/decision"
            house.post(path, {"answer": answer, "digest": row["digest"], "whole": True})
        house.wait(id, "answered", "unverified", "verified", "incomplete", "failed")
    return id


@promise("OPS-6.transcript")
def test_a_session_and_its_questions_are_taken_along_in_every_form(
    house: LivingHome, project: Path, tmp_path: Path
) -> None:
    id = worked(house, project)
    page = tmp_path / "story.html"
    done = house.cli("session", "export", id, "--format", "html", "--output", str(page))
    assert done.returncode == 0, done.stderr
    text = page.read_text("utf-8")
    assert "<script" not in text and "&lt;script&gt;" in text and "<i>" not in text
    assert "http" not in text.replace("http-equiv", "").replace("https://example.com", "")
    lines = house.cli("session", "export", id, "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["place"] for line in lines] == list(range(len(lines)))
    assert house.cli("session", "export", id, "--format", "md").stdout == house.cli("session", "export", id).stdout

    shown = house.cli("approvals", "--export", "-", "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(shown)))
    assert [row["answer"] for row in rows] == ["denied", "allowed"]
    assert all(row["who"] == "person" and row["door"] and len(row["digest"]) == 64 for row in rows)
    assert all(row["answered"] >= row["asked"] > "2026" and row["title"] == "'" + EVIL for row in rows)
    file = tmp_path / "questions.json"
    assert house.cli("approvals", "--export", str(file), "--format", "json").returncode == 0
    records = json.loads(file.read_text("utf-8"))
    assert [record["title"] for record in records] == [EVIL, EVIL], "JSON keeps texts as they are"
    assert house.cli("approvals", "--export", str(file)).returncode == 2, "no file is written over"


def test_a_page_is_never_shown_at_the_door_s_own_name(house: LivingHome, project: Path) -> None:
    id = house.post("/sessions", {"directory": str(project), "title": EVIL})["session"]
    address = house.client().address
    url = f"http://127.0.0.1:{address.port}/api/v1/sessions/{id}/export?format=html"
    asked = urllib.request.Request(url, headers={"Authorization": f"Bearer {address.bearer}"})
    with urllib.request.urlopen(asked) as response:
        assert response.headers["content-disposition"] == f'attachment; filename="{id}.html"'
        policies = response.headers.get_all("content-security-policy")
        assert any(policy.startswith("sandbox;") for policy in policies)
