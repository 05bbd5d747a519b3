"""Jobs in projects of Node, and servers that run on: packages from an archive and a registry, development servers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from bench.jobs.job import (
    Done,
    Job,
    Model,
    Registry,
    edit,
    failed,
    lay_out,
    passes,
    same,
    says,
    service,
    shell,
    succeeded,
    touched,
)
from bench.jobs.registry import pad_words

_NPM = "npm install --no-audit --no-fund --no-update-notifier"
_MENU = {
    "package.json": json.dumps(
        {"name": "menu", "version": "0.1.0", "private": True, "scripts": {"test": "node --test"}}, indent=2
    )
    + "\n",
    "menu.js": "exports.line = (dish, price) => `${dish} ${price}`;\n",
    "menu.test.js": "const test = require('node:test');\nconst assert = require('node:assert');\n"
    "const { line } = require('./menu.js');\n\n"
    "test('prices stand below each other', () => assert.equal(line('Soup', 4), 'Soup.......4'));\n",
}
_PADDED = "const pad = require('pad-words');\n\nexports.line = (dish, price) => dish + pad(price, 12 - dish.length);\n"


def _make_menu(folder: Path) -> None:
    lay_out(folder, _MENU)


def _with_archive(folder: Path) -> None:
    lay_out(folder, _MENU)
    name, content = pad_words()
    (folder / "vendor").mkdir()
    (folder / "vendor" / name).write_bytes(content)


def _use_pad() -> Model:
    """What is the same wherever the package comes from."""
    yield edit("menu.js", _MENU["menu.js"], _PADDED)
    says(succeeded((yield shell("npm test"))), "pass 1")


def _from_archive(_registry: Registry) -> Model:
    failed((yield shell("npm test")), "prices stand below each other")
    says(succeeded((yield shell(f"{_NPM} ./vendor/pad-words-1.0.0.tgz"))), "added 1 package")
    yield from _use_pad()
    yield "The menu pads with pad-words from the archive."
    says(succeeded((yield shell("npm ls && npm test"))), "pad-words@1.0.0", "pass 1")
    yield "It is still installed."


def _from_registry(registry: Registry) -> Model:
    install = f"{_NPM} --registry http://{registry.npm}/ pad-words@1.0.0"
    says(succeeded((yield shell(install, registry.npm))), "added 1 package")
    yield from _use_pad()
    yield "The menu pads with pad-words from the registry."


def _padded(done: Done) -> Iterator[str]:
    yield from same("menu.js", done.text("menu.js"), _PADDED)
    package = json.loads(done.text("package.json"))
    yield from same("dependencies", list(package.get("dependencies", {})), ["pad-words"])
    lock = json.loads(done.text("package-lock.json") or "{}")
    locked = lock.get("packages", {}).get("node_modules/pad-words", {})
    yield from same("locked", locked.get("version"), "1.0.0")
    yield from touched(done, "menu.js", "package.json", "package-lock.json")
    lay_out(
        done.folder, {"node_modules/pad-words/index.js": "module.exports = (t, w) => String(t).padStart(w, '.');\n"}
    )
    yield from passes(done, "node", "--test")


NPM_ARCHIVE = Job(
    "npm from an archive",
    _with_archive,
    ("Install vendor/pad-words-1.0.0.tgz and use it so that the test passes.", "Is it still installed?"),
    _from_archive,
    _padded,
    needs=("node", "npm"),
)
NPM_REGISTRY = Job(
    "npm from a registry",
    _make_menu,
    ("Use pad-words 1.0.0 so that the test passes.",),
    _from_registry,
    _padded,
    asks=2,  # a host that is new, and what is changed after something came in from it
    needs=("node", "npm"),
)

# -- servers ---------------------------------------------------------------------------------------------------------

_SITE = {"index.html": "<h1>Harbour</h1>\n", "style.css": "h1 { color: navy }\n"}


def _get(port: int, path: str = "/") -> str:
    """A command that asks a server on loopback, and waits until there is one."""
    return f"curl -sS --retry 8 --retry-connrefused --retry-delay 1 http://127.0.0.1:{port}{path}"


def _serve_site(_registry: Registry) -> Model:
    says((yield service("site", "python3 -u -m http.server 8123 --bind 127.0.0.1")), "listens at port 8123")
    says(succeeded((yield shell(_get(8123)))), "<h1>Harbour</h1>")
    yield "It is served at port 8123."
    says(succeeded((yield shell(_get(8123)))), "<h1>Harbour</h1>")
    yield edit("index.html", "<h1>Harbour</h1>", "<h1>Old harbour</h1>")
    says(succeeded((yield shell(_get(8123)))), "<h1>Old harbour</h1>")
    succeeded((yield shell("echo 'h1 { color: teal }' > style.css")))
    says(succeeded((yield shell(_get(8123, "/style.css")))), "teal")
    says((yield service("site")), "runs on", '"GET /style.css HTTP/1.1" 200')
    says((yield service("site", stop=True)), "ended (stopped)")
    yield "It serves what was changed. I stopped it."


def _site_changed(done: Done) -> Iterator[str]:
    yield from same("index.html", done.text("index.html"), "<h1>Old harbour</h1>\n")
    yield from same("style.css", done.text("style.css"), "h1 { color: teal }\n")
    yield from touched(done, "index.html", "style.css")


SITE = Job(
    "a server sees edits",
    lambda folder: lay_out(folder, _SITE),
    ("Serve this folder at port 8123.", "Call it the old harbour, in teal, and look at it."),
    _serve_site,
    _site_changed,
    needs=("python3", "curl"),
)

_APP = {
    "server.js": "const http = require('node:http');\nconst fs = require('node:fs');\n"
    "http.createServer((request, response) => {\n"
    "  const texts = JSON.parse(fs.readFileSync('texts.json', 'utf8'));\n"
    "  fs.appendFileSync('visits.log', request.url + '\\n');\n"
    "  response.end(texts.hello + '\\n');\n"
    "}).listen(8124, '127.0.0.1');\n",
    "texts.json": '{"hello": "Good morning"}\n',
}


def _serve_app(_registry: Registry) -> Model:
    succeeded((yield shell("nohup node server.js > /tmp/app.log 2>&1 & echo $! > /tmp/app.pid")))
    says(succeeded((yield shell(_get(8124, "/first")))), "Good morning")
    yield "The app answers."
    says(succeeded((yield shell(_get(8124, "/second")))), "Good evening")
    succeeded((yield shell("printf '%s\\n' '{\"hello\": \"Good night\"}' > texts.json")))
    says(succeeded((yield shell(_get(8124, "/third")))), "Good night")
    says(succeeded((yield shell("cat visits.log"))), "/first", "/second", "/third")
    succeeded((yield shell("kill $(cat /tmp/app.pid)")))
    yield "It said what you had written, and now says good night. I stopped it."


def _app_wrote(done: Done) -> Iterator[str]:
    yield from same("texts.json", done.text("texts.json"), '{"hello": "Good night"}\n')
    yield from same("visits.log", done.text("visits.log").split(), ["/first", "/second", "/third"])
    yield from touched(done, "texts.json", "visits.log")


def _person_edits(folder: Path) -> None:
    (folder / "texts.json").write_text('{"hello": "Good evening"}\n', "utf-8")


APP = Job(
    "a server that writes",
    lambda folder: lay_out(folder, _APP),
    ("Start the app.", "I wrote another greeting. Does it say so? Then let it say good night, and stop it."),
    _serve_app,
    _app_wrote,
    needs=("node", "curl"),
    meanwhile=_person_edits,
)

JOBS = (NPM_ARCHIVE, NPM_REGISTRY, SITE, APP)
