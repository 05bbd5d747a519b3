"""A home in which everything that others can write is hostile: goals, replies, arguments, outputs, names of files.

The model's play is put together here; ``plays.py`` knows nothing of it.
"""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.stage import Stage
from tests.browser.vectors import BIDI, EVIL, HTML, INVISIBLE, MARKDOWN, RUN, TAG_LETTERS, TERMINAL, VECTORS
from tests.fakes.models import Call, Seen, Turn
from tests.flows.house import use_model
from tests.flows.sitting import Sitting

LURE = f'"><img src=x onerror={RUN}><script>{RUN}</script>{BIDI}'
COMMAND = f"rm -f 'x{LURE}' # {INVISIBLE}{TAG_LETTERS}"
_SAID = "\n\n".join((*HTML, *MARKDOWN, *TERMINAL, BIDI, INVISIBLE))
_FOUND = """() => {
    const all = document.body;
    const bad = [...all.querySelectorAll('script, iframe, object, embed, base, meta, link, video, audio, marquee')];
    const handlers = [...all.querySelectorAll('*')].filter((element) =>
        element.getAttributeNames().some((name) => name.startsWith('on') || name === 'ping' || name === 'srcdoc'));
    const away = [...all.querySelectorAll('a[href], area[href]')].filter((link) =>
        !['http:', 'https:', 'mailto:', 'blob:'].includes(link.protocol)
        || (link.host !== location.host && link.protocol.startsWith('http') && !link.rel.includes('noreferrer')));
    const pictures = [...all.querySelectorAll('img, image, source')].filter((picture) =>
        !(picture.currentSrc || picture.src || '').startsWith(location.origin));
    const said = (element) => element.outerHTML.slice(0, 200);
    return {
        ran: window.ran ?? 0,
        elements: [...bad, ...handlers, ...away, ...pictures].map(said),
        bidi: all.innerText.includes('\\u202e'),
        title: /\\u202e/.test(document.title),
        clobbered: typeof document.getElementById !== 'function' || document.body.tagName !== 'BODY',
    };
}"""


_UNFOLD = """() => new Promise((done) => {
    const folded = 'main button[aria-expanded=false]:not([aria-haspopup]):not(:disabled)';
    for (const button of document.querySelectorAll(folded)) button.click();
    requestAnimationFrame(() => requestAnimationFrame(done));
})"""


def play(seen: Seen) -> Turn:
    """Look at a hostile file, say every vector, then ask to run something that hides what it is."""
    told = sum(message["role"] == "assistant" for message in seen.body["messages"])
    return (
        Turn(f"I look at {LURE}", calls=(Call("read", {"path": "hostile.txt"}), Call("glob", {"pattern": "*"}))),
        Turn(_SAID, calls=(Call("plan", {"steps": [{"title": one[:200]} for one in VECTORS[:10]]}),)),
        Turn(LURE, calls=(Call("shell", {"command": COMMAND}),)),
    )[min(told, 2)]


def fill(stage: Stage) -> None:
    """Let it all happen; ``ids``: ``objective``, ``desk`` and ``approval``, which waits."""
    house, project = stage.house, stage.project
    (project / "hostile.txt").write_text("\n".join(VECTORS), "utf-8")
    for place, vector in enumerate(VECTORS[:30]):
        (project / f"{place:02d} {vector}".replace("/", "|").replace("\n", " ")[:100]).write_text(LURE, "utf-8")
    _remember(stage)
    stage.model.script = play
    use_model(house, stage.model.openai)
    stage.ids["objective"] = house.give(f"{LURE}\n{_SAID}", project)
    opened = house.post("/sessions", {"directory": str(project), "title": LURE[:150], "profile": "ask"})
    desk = Sitting(house, str(opened["session"]))
    stage.ids["desk"] = desk.id
    desk.say(_SAID)
    for name in ("objective", "desk"):
        house.until(lambda id=stage.ids[name]: bool(house.get("/approvals", session=id)["items"]), f"{name} to ask")  # type: ignore[misc]
    stage.ids["approval"] = house.get("/approvals", session=stage.ids["objective"])["items"][0]["id"]


def _remember(stage: Stage) -> None:
    """Have memories, proposals and directives that a stranger wrote."""
    words = [vector[:4_000] for vector in VECTORS if vector.strip()][:40]
    stage.house.post("/memories", {"items": [{"text": f"onerror {one}", "aliases": [one[:60]]} for one in words[:20]]})
    said = "\n".join(f"- onerror {' '.join(one.split())}" for one in words[20:])
    stage.house.post("/memories/import", {"name": f"{LURE[:60]}.md", "text": f"# {LURE}\n\n{said}\n"})
    stage.house.post("/memories/import", {"name": "soul.md", "text": _SAID})
    title = " ".join(LURE.split())[:80]
    stage.house.post("/directives", {"kind": "custom", "title": title, "text": _SAID, "enabled": False})


PLACES = (
    "/",
    "/objectives",
    "/objectives/{objective}",
    "/sessions",
    "/sessions/{desk}",
    "/approvals",
    "/approvals/{approval}",
    "/audit",
    "/search?q=onerror",
    "/memories",
    "/memories?q=onerror",
    "/memories?view=told&q=onerror",
    "/memories?view=runs",
    "/directives",
)
"""Where what others wrote is shown."""


def unfold(page: Page) -> None:
    """Open whatever is folded up, and what was folded up in that; menus stay shut."""
    for _ in range(3):
        page.evaluate(_UNFOLD)


def harm(page: Page) -> list[str]:
    """What a vector achieved in a page; empty is right."""
    found = page.evaluate(_FOUND)
    said = [f"an element that should be text: {html}" for html in found["elements"]]
    said += [f"{found['ran']} scripts ran"] if found["ran"] else []
    said += ["text that runs backwards is shown as it is"] if found["bidi"] or found["title"] else []
    return said + (["the document's own names are hidden"] if found["clobbered"] else [])


def reached(requests: list[str]) -> list[str]:
    """Requests to the vectors' own host."""
    return [url for url in requests if EVIL.removeprefix("http://") in url.partition("?")[0]]
