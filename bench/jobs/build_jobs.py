"""Jobs with what is built and made: a C program, a cleaning up, a script of the shell, generated code, many files."""

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
    prepare,
    read,
    same,
    says,
    shell,
    succeeded,
    touched,
    write,
)

# -- a program in C --------------------------------------------------------------------------------------------------

_MAKEFILE = """CFLAGS = -O1 -Wall -Wextra
OBJECTS = build/main.o build/tide.o

build/tide: $(OBJECTS)
\t$(CC) $(CFLAGS) -o $@ $(OBJECTS)

build/%.o: src/%.c src/tide.h
\t@mkdir -p build
\t$(CC) $(CFLAGS) -c -o $@ $<

.PHONY: test clean
test: build/tide
\tsh tests/run.sh

clean:
\trm -rf build
"""
_TIDE = {
    "Makefile": _MAKEFILE,
    "src/tide.h": "int height_cm(int minute);\n",
    "src/tide.c": '#include "tide.h"\n\n/* A tide of 12 hours: up for six, down for six, 50 cm an hour. */\n'
    "int height_cm(int minute)\n{\n    int at = minute % 720;\n"
    "    return at <= 360 ? at * 50 / 60 : at * 50 / 60;\n}\n",
    "src/main.c": '#include <stdio.h>\n#include <stdlib.h>\n#include "tide.h"\n\nint main(int argc, char **argv)\n{\n'
    '    printf("%d\\n", height_cm(argc > 1 ? atoi(argv[1]) : 0));\n    return 0;\n}\n',
    "tests/run.sh": "set -e\nexpect() { got=$(build/tide $1); "
    '[ "$got" = "$2" ] || { echo "FAIL $1: $got instead of $2"; exit 1; }; }\n'
    "expect 0 0\nexpect 60 50\nexpect 360 300\nexpect 420 250\nexpect 720 0\necho all tides are right\n",
    ".gitignore": "build/\n",
}


def _build(_registry: Registry) -> Model:
    failed((yield shell("make test")), "FAIL 420: 350 instead of 250")
    says((yield read("src/tide.c")), "at <= 360")
    yield edit("src/tide.c", ": at * 50 / 60;", ": (720 - at) * 50 / 60;")
    says(succeeded((yield shell("make test"))), "tide.c", "all tides are right")
    says(succeeded((yield shell("make test && ./build/tide 600"))), "all tides are right", "100")
    yield "The tide goes down again."


def _built(done: Done) -> Iterator[str]:
    products = ("build/tide", "build/main.o", "build/tide.o")
    yield from touched(done, "src/tide.c", *(path for path in products if path in done.touched))
    if "build/tide" in done.touched:
        yield from same("the program on the host", done.run("build/tide", "660").stdout, "50\n")
    yield from passes(done, "make", "clean", "test")


BUILD = Job(
    "build a C program",
    lambda folder: lay_out(folder, _TIDE),
    ("`make test` fails. Mend the program.",),
    _build,
    _built,
    needs=("make", "cc"),
)

# -- a cleaning up ---------------------------------------------------------------------------------------------------

_LITTER = 24


def _littered(folder: Path) -> None:
    lay_out(folder, _TIDE | {".gitignore": "*.o\n"})
    prepare(folder, "git", "init", "-q")
    prepare(folder, "git", "add", "-A")
    prepare(folder, "git", "commit", "-q", "-m", "Tides")
    prepare(folder, "make", "build/tide")
    lay_out(folder, {f"build/log-{at:02d}.txt": "old\n" for at in range(_LITTER)} | {"src/tide.c.orig": "old\n"})


def _clean(_registry: Registry) -> Model:
    says(succeeded((yield shell("git status --short"))), "?? build/", "?? src/tide.c.orig")
    succeeded((yield shell("make clean && rm -f src/*.orig")))
    yield write(".gitignore", "*.o\nbuild/\n*.orig\n")
    says(succeeded((yield shell("git status --short; ls"))), " M .gitignore")
    yield "What was built is gone, and git does not see it again."


def _cleaned(done: Done) -> Iterator[str]:
    logs = [f"build/log-{at:02d}.txt" for at in range(_LITTER)]
    built = ("build/tide", "build/main.o", "build/tide.o")
    yield from touched(done, *logs, *built, "src/tide.c.orig", ".gitignore")
    yield from same("build", (done.folder / "build").exists(), False)
    yield from same("git status", done.git("status", "--short"), "M .gitignore")


CLEAN = Job(
    "clean up",
    _littered,
    ("Delete what was built and what editors left, and let git ignore it.",),
    _clean,
    _cleaned,
    needs=("git", "make", "cc"),
)

# -- a script of the shell -------------------------------------------------------------------------------------------

_BACKUP = {
    "README.md": "# Backup\n",
    "lib/names.sh": 'name_of() { printf \'%s-%s.tar\' "$1" "$2"; }\n',
    "tests/run.sh": '#!/bin/sh\nset -eu\ncd "$(dirname "$0")/.."\nroot=$(mktemp -d)\nmkdir "$root/notes"\n'
    'echo one > "$root/notes/a b.txt"\nbin/backup "$root/notes" "$root" monday\n'
    "tar -tf \"$root/notes-monday.tar\" | grep -q 'a b.txt'\n"
    'if bin/backup "$root/nothing" "$root" monday 2>/dev/null; then echo \'took nothing\'; exit 1; fi\n'
    'rm -r "$root"\necho backups are made\n',
}
_SCRIPT = """#!/bin/sh
# Packs a folder: backup FOLDER INTO DAY
set -eu
. "$(dirname "$0")/../lib/names.sh"
[ -d "$1" ] || { echo "no folder $1" >&2; exit 1; }
tar -cf "$2/$(name_of "$(basename "$1")" "$3")" -C "$(dirname "$1")" "$(basename "$1")"
"""


def _script(_registry: Registry) -> Model:
    failed((yield shell("tests/run.sh")), "bin/backup")
    succeeded((yield shell(f"mkdir -p bin && cat > bin/backup <<'EOF'\n{_SCRIPT}EOF\nchmod +x bin/backup")))
    says(succeeded((yield shell("tests/run.sh"))), "backups are made")
    succeeded((yield shell("cat >> README.md <<-EOF\n\t\n\tbin/backup FOLDER INTO DAY\n\tEOF\nsh -n bin/backup")))
    yield "There is a script bin/backup."


def _script_runs(done: Done) -> Iterator[str]:
    yield from passes(done, "tests/run.sh")
    yield from same("bin/backup", done.text("bin/backup"), _SCRIPT)
    yield from same("README.md", done.text("README.md"), "# Backup\n\nbin/backup FOLDER INTO DAY\n")
    yield from touched(done, "bin/backup", "README.md")


SCRIPT = Job(
    "write a shell script",
    lambda folder: lay_out(folder, _BACKUP),
    ("Write bin/backup so that tests/run.sh passes, and mention it in the README.",),
    _script,
    _script_runs,
    needs=("tar",),
)

# -- generated code --------------------------------------------------------------------------------------------------

_TABLES = {f"table_{at}": ["id", "name", f"field_{at}"] for at in range(20)}
_GENERATOR = """import json
import pathlib

out = pathlib.Path("models")
out.mkdir(exist_ok=True)
tables = json.loads(pathlib.Path("schema.json").read_text())
for name, fields in tables.items():
    title = name.title().replace("_", "")
    lines = [f"class {title}:", f"    def __init__(self, {', '.join(fields)}):"]
    lines += [f"        self.{field} = {field}" for field in fields]
    (out / f"{name}.py").write_text("\\n".join(lines) + "\\n")
imports = [f"from models.{name} import {name.title().replace('_', '')}" for name in tables]
(out / "__init__.py").write_text("\\n".join(imports) + "\\n")
"""


def _generate(_registry: Registry) -> Model:
    script = "import json; print(len(json.load(open('schema.json'))), 'tables')"
    says(succeeded((yield shell(f'python3 -c "{script}"'))), "20 tables")
    yield write("tools/generate.py", _GENERATOR)
    succeeded((yield shell("python3 tools/generate.py && ls models | wc -l")))
    code = "from models import Table7; print(Table7(1, 'pear', 3).field_7)"
    says(succeeded((yield shell(f'PYTHONPATH=. python3 -c "{code}"'))), "3")
    yield "There is a class for each table."


def _generated(done: Done) -> Iterator[str]:
    names = [f"models/{name}.py" for name in _TABLES]
    yield from touched(done, "tools/generate.py", "models/__init__.py", *names)
    code = "from models import Table19; assert Table19(1, 2, 3).field_19 == 3"
    yield from passes(done, "python3", "-c", code)
    kept = {path: done.text(path) for path in names}
    yield from passes(done, "python3", "tools/generate.py")
    yield from same("made again", kept, {path: done.text(path) for path in names})


GENERATE = Job(
    "generate code",
    lambda folder: lay_out(folder, {"schema.json": json.dumps(_TABLES, indent=1) + "\n"}),
    ("Write a generator for classes of the tables in schema.json, and run it.",),
    _generate,
    _generated,
)

# -- many files ------------------------------------------------------------------------------------------------------

_MANY = 500


def _many(_registry: Registry) -> Model:
    loop = 'for n in $(seq -w 1 500); do echo "Day $n" > days/$((10#$n % 10))/day-$n.md; done'
    succeeded((yield shell(f"mkdir -p days/{{0..9}} && {loop}")))
    says(succeeded((yield shell("find days -type f | wc -l"))), str(_MANY))
    index = "import pathlib; print(*sorted(map(str, pathlib.Path('days').rglob('*.md'))), sep='\\n')"
    says(succeeded((yield shell(f'python3 -c "{index}" > index.txt && wc -l index.txt'))), f"{_MANY} index.txt")
    yield "There is a page for each day."


def _all_there(done: Done) -> Iterator[str]:
    days = {f"days/{at % 10}/day-{at:03d}.md": f"Day {at:03d}\n" for at in range(1, _MANY + 1)}
    yield from touched(done, "index.txt", *days)
    yield from same("pages that differ", [path for path, text in days.items() if done.text(path) != text], [])
    yield from same("index.txt", done.text("index.txt").split(), sorted(days))


MANY = Job(
    "make 500 files",
    lambda folder: lay_out(folder, {"README.md": "# Days\n"}),
    ("Make a page for each of 500 days, in ten folders, and an index.",),
    _many,
    _all_there,
)

JOBS = (BUILD, CLEAN, SCRIPT, GENERATE, MANY)
