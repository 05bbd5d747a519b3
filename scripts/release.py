"""Make a release in dist/release: wheel, self-contained archive, Debian package, bill of materials, installer, sums.

`make release` runs it, on Debian. The same commit, lock files and packages of Debian's give the same bytes.
The archive's interpreter is Debian's, with the libraries that it and the packages need, but for the C library.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import uuid
import zipfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCKS = ("requirements.lock", "requirements-release.lock")
PYTHON = "python3.11"
ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}
DEBS = (
    *("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib"),
    *(
        "gcc-12-base",
        "libbz2-1.0",
        "libexpat1",
        "libffi8",
        "libgcc-s1",
        "liblzma5",
        "libssl3",
        "libstdc++6",
        "libuuid1",
        "zlib1g",
    ),
)
LIBRARIES = re.compile(r"lib(bz2|crypto|expat|ffi|gcc_s|lzma|ssl|stdc\+\+|uuid|z)\.so[.0-9]*")
NOT_SHIPPED = ("bin/", "icalendar/tests/")
"""Of packages: scripts that name this machine's interpreter, and a package's tests, which have scripts too."""
LEFT_OUT = re.compile(  # of the interpreter: what needs libraries that are not taken along, what tests and what builds
    r"_(crypt|curses|curses_panel|dbm|sqlite3|ctypes_test|test\w+|xxtestfuzz|xxsubinterpreters)\.cpython.*"
    r"|(nis|ossaudiodev|readline|xxlimited\w*)\.cpython.*|config-3.*|idlelib|lib2to3|pydoc_data|test|turtledemo|EXTERNALLY-MANAGED"
)
WRAPPER = """\
#!/bin/sh
# Starts Stead with the interpreter beside this file, wherever a link to it lies.
self=$0
while [ -h "$self" ]; do
    link=$(readlink "$self")
    case $link in /*) self=$link ;; *) self=$(dirname "$self")/$link ;; esac
done
unset PYTHONHOME PYTHONPATH PYTHONSTARTUP
exec "$(dirname "$self")/python3.11" -P -m stead "$@"
"""
CONTROL = """\
Package: stead
Version: {version}
Architecture: {arch}
Maintainer: The Stead maintainers <maintainers@stead.example.com>
Installed-Size: {size_kb}
Depends: libc6 (>= {glibc}), ca-certificates
Recommends: bubblewrap, git
Section: utils
Priority: optional
Description: self-hosted agent that acts in your stead
 One daemon on your machine gives you an agent that works on your goals with
 real tools in a sandbox, asks before anything that matters, and keeps an
 encrypted record of what happened.
 .
 It brings its own interpreter. Each account starts its own: stead up.
"""
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: stead

Files: *
Copyright: 2026 The Stead maintainers
License: Apache-2.0
Comment: what comes along has its own terms, in /usr/lib/stead/share/doc

License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
"""
OVERRIDES = """\
# It brings its interpreter and libraries, so that it runs the same on every host.
stead: embedded-library
stead: hardening-no-pie
stead: shared-library-lacks-prerequisites
# Packages are taken as their makers published them, each checked by the hash of the lock.
stead: unstripped-binary-or-object
stead: extra-license-file
# Byte code is made once, for all: no account may write below /usr, and Debian's own Python does not run this.
stead: package-installs-python-pycache-dir
# Modules that are imported and never run by their first line.
stead: interpreter-in-usr-local
stead: unusual-interpreter
# stead --help and the pages of the project say more than a manual page of many commands would.
stead: no-manual-page
"""


class Failure(Exception):
    """A release cannot be made; the text says why."""


def run(*words: str | Path, cwd: Path = ROOT, **env: str) -> str:
    """What a program prints.

    Raises:
        Failure: it failed.
    """
    done = subprocess.run(words, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{' '.join(map(str, words[:4]))} failed: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout


def fetch(folder: Path) -> list[Path]:
    """Debian's packages, from wherever apt gets them; those that are there already are taken."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*DEBS, "patchelf"):
        if not list(folder.glob(f"{name}_*.deb")):
            run("apt-get", "download", "-q", name, cwd=folder)
    return sorted(path for path in folder.glob("*.deb") if path.name.partition("_")[0] in DEBS)


def make_tree(tree: Path, work: Path, debs: Iterable[Path], wheel: Path, arch: str) -> None:
    """The self-contained tree: bin, lib and share, without a path of this machine."""
    taken = work / "debs-unpacked"
    for deb in debs:
        run("dpkg-deb", "-x", deb, taken)
    for deb in debs:
        name = deb.name.partition("_")[0]
        (tree / "share/doc" / name).mkdir(parents=True)
        shutil.copy(taken / "usr/share/doc" / name / "copyright", tree / "share/doc" / name)
    (tree / "bin").mkdir()
    python = tree / "bin" / PYTHON
    shutil.copy(taken / "usr/bin" / PYTHON, python)
    shutil.copytree(taken / "usr/lib" / PYTHON, tree / "lib" / PYTHON, symlinks=True,
                    ignore=lambda _, names: [name for name in names if LEFT_OUT.fullmatch(name)])  # fmt: skip
    for path in sorted((tree / "lib").rglob("*")):
        if path.is_symlink():
            path.unlink()  # into /etc
    for path in sorted(taken.rglob("*.so*")):
        if LIBRARIES.fullmatch(path.name) and PYTHON not in path.parts and not (tree / "lib" / path.name).exists():
            shutil.copy(path, tree / "lib" / path.name)  # links are followed: their names are what is looked for
    for path in (tree / "lib").glob("*.so*"):
        if path.name.count(".") > 3 or path.name.endswith(".so"):
            path.unlink()  # a full version: programs ask for the short name
    run("dpkg-deb", "-x", *(work / "debs").glob("patchelf_*.deb"), work / "patchelf")
    patchelf = work / "patchelf/usr/bin/patchelf"
    run(patchelf, "--force-rpath", "--set-rpath", "$ORIGIN/../lib", python)
    site = tree / "lib" / PYTHON / "dist-packages"
    for lock in LOCKS:
        run(ROOT / ".uv/bin/uv", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "--only-binary", ":all:",
            "--link-mode", "copy", "--python", python, "--python-platform", f"{ARCHITECTURES[arch]}-manylinux_2_36",
            "--target", site, "--requirements", ROOT / lock)  # fmt: skip
    for name in NOT_SHIPPED:
        shutil.rmtree(site / name, ignore_errors=True)
    for path in site.glob("*.dist-info/RECORD"):
        path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith(NOT_SHIPPED)))
    for path in (site / ".lock", *site.rglob(".gitignore")):
        path.unlink(missing_ok=True)
    for path in site.rglob("*.so"):
        if run(patchelf, "--print-rpath", path).startswith("/"):
            run(patchelf, "--remove-rpath", path)  # of the machine that its wheel was made on
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)  # noqa: S202 - just built
    (tree / "bin/stead").write_text(WRAPPER)
    for made in [*tree.rglob("__pycache__")]:
        shutil.rmtree(made)  # by whatever ran this interpreter meanwhile
    run(python, "-B", "-I", "-m", "compileall", "-q", "-s", f"{tree}/", "--invalidation-mode", "unchecked-hash",
        tree / "lib", PYTHONHASHSEED="0")  # fmt: skip
    for path in tree.rglob("*"):
        runs = path.is_dir() or path.parent == tree / "bin" or path.name == "bwrap"
        path.chmod(0o755 if runs else 0o644)


def newest_glibc(tree: Path) -> str:
    """The oldest C library with all that the tree's programs ask of it."""
    asked = {(2, 17)}
    for path in tree.rglob("*"):
        if path.is_file() and (".so" in path.name or path.parent.name == "bin"):
            content = path.read_bytes()
            if content[:4] == b"\x7fELF":
                asked |= {(int(a), int(b)) for a, b in re.findall(rb"\0GLIBC_(\d+)\.(\d+)(?=[\0.])", content)}
    return "{}.{}".format(*max(asked))


def components(tree: Path, debs: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """What is in the archive, besides Stead."""
    for found in sorted(
        metadata.distributions(path=[str(tree / "lib" / PYTHON / "dist-packages")]), key=lambda d: d.name
    ):
        if found.name == "stead":
            continue
        purl = f"pkg:pypi/{re.sub('[-_.]+', '-', found.name).lower()}@{found.version}"
        yield {"type": "library", "bom-ref": purl, "name": found.name, "version": found.version, "purl": purl}
    for deb in debs:
        name, version, arch = run("dpkg-deb", "-f", deb, "Package", "Version", "Architecture").split("\n")[:3]
        name, version, arch = (field.partition(": ")[2] for field in (name, version, arch))
        purl = f"pkg:deb/debian/{name.replace('+', '%2B')}@{version.replace('+', '%2B')}?arch={arch}"
        sums = [{"alg": "SHA-256", "content": hashlib.sha256(deb.read_bytes()).hexdigest()}]
        yield {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, "hashes": sums}


def bill(version: str, epoch: int, parts: list[dict[str, Any]]) -> bytes:
    """The bill of materials: CycloneDX 1.5, JSON."""
    from time import gmtime, strftime

    this = {"type": "application", "bom-ref": "stead", "name": "stead", "version": version,
            "purl": f"pkg:pypi/stead@{version}", "licenses": [{"license": {"id": "Apache-2.0"}}]}  # fmt: skip
    said = json.dumps(parts, sort_keys=True) + version
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, said)}",
        "version": 1,
        "metadata": {"timestamp": strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(epoch)), "component": this},
        "components": parts,
        "dependencies": [{"ref": "stead", "dependsOn": [part["bom-ref"] for part in parts]}],
    }
    return json.dumps(document, indent=1).encode() + b"\n"


def pack(tree: Path, top: str, target: Path, epoch: int) -> None:
    """A tar of the tree below one folder; nothing in it but contents, names and modes."""

    def entry(info: tarfile.TarInfo) -> tarfile.TarInfo:
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        info.mtime = epoch
        return info

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in [tree, *sorted(tree.rglob("*"))]:
            tar.add(path, f"{top}/{path.relative_to(tree)}".removesuffix("/."), recursive=False, filter=entry)
    with target.open("wb") as file, gzip.GzipFile("", "wb", 6, file, mtime=epoch) as squeezed:
        squeezed.write(packed.getvalue())


def make_deb(tree: Path, work: Path, target: Path, version: str, arch: str, glibc: str, epoch: int) -> None:
    """The Debian package: the tree in /usr/lib/stead, and the command."""
    root = work / "deb"
    shutil.copytree(tree, root / "usr/lib/stead", symlinks=True)
    (root / "usr/bin").mkdir()
    (root / "usr/bin/stead").symlink_to("../lib/stead/bin/stead")
    doc = root / "usr/share/doc/stead"
    doc.mkdir(parents=True)
    (doc / "copyright").write_text(COPYRIGHT)
    from email.utils import formatdate

    entry = f"stead ({version}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n" \
            f" -- The Stead maintainers <maintainers@stead.example.com>  {formatdate(epoch)}\n"  # fmt: skip
    (doc / "changelog.gz").write_bytes(gzip.compress(entry.encode(), 9, mtime=0))
    overrides = root / "usr/share/lintian/overrides"
    overrides.mkdir(parents=True)
    (overrides / "stead").write_text(OVERRIDES)
    size_kb = sum(path.lstat().st_size for path in root.rglob("*") if path.is_file()) // 1024
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text(CONTROL.format(version=version, arch=arch, size_kb=size_kb, glibc=glibc))
    sums = "".join(
        f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}  {path.relative_to(root)}\n"
        for path in sorted((root / "usr").rglob("*")) if path.is_file() and not path.is_symlink()
    )  # fmt: skip
    (root / "DEBIAN/md5sums").write_text(sums)
    for path in [root, *root.rglob("*")]:
        if not path.is_symlink():
            if path.is_dir() or not path.is_relative_to(root / "usr/lib/stead"):
                path.chmod(0o755 if path.is_dir() else 0o644)
            os.utime(path, (epoch, epoch))
    run("dpkg-deb", "--root-owner-group", "-Zxz", "-z6", "--build", root, target, SOURCE_DATE_EPOCH=str(epoch))


def sign(sums: Path, key: Path) -> None:
    """Sign the sums with an SSH key of the releaser's, or by an agent that has it; ``install.sh --signer`` verifies.

    Raises:
        Failure: the key cannot be used.
    """
    run("ssh-keygen", "-q", "-Y", "sign", "-f", key.absolute(), "-n", "stead-release", sums)


def release(out: Path, work: Path, version: str = "") -> None:
    """Make everything.

    Args:
        out: the folder for the release; what is in it goes.
        work: the folder to work in; Debian's packages in its ``debs`` are kept for the next time.
        version: another than the one in the sources, for a test of upgrades.

    Raises:
        Failure: something could not be had or made.
    """
    arch = run("dpkg", "--print-architecture").strip()
    if arch not in ARCHITECTURES:
        raise Failure(f"there is no release for {arch}")
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct"))
    debs = fetch(work / "debs")
    for folder in (out, *(path for path in work.iterdir() if path.name != "debs")):
        shutil.rmtree(folder, ignore_errors=True)
    out.mkdir(parents=True)
    source = _sources(work / "sources", version) if version else ROOT
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out, cwd=source, SOURCE_DATE_EPOCH=str(epoch))
    (wheel,) = out.glob("*.whl")
    version = wheel.name.split("-")[1]
    tree = work / "tree"
    make_tree(tree, work, debs, wheel, arch)
    glibc = newest_glibc(tree)
    shutil.copy(ROOT / "LICENSE", tree / "LICENSE")
    (tree / "NEEDS").write_text(f"glibc {glibc}\n")
    parts = list(components(tree, debs))
    (out / f"stead-{version}.cdx.json").write_bytes(bill(version, epoch, parts))
    pack(tree, f"stead-{version}", out / f"stead-{version}-linux-{ARCHITECTURES[arch]}.tar.gz", epoch)
    make_deb(tree, work, out / f"stead_{version}_{arch}.deb", version, arch, glibc, epoch)
    shutil.copy(ROOT / "scripts/install.sh", out / "install.sh")
    (out / "install.sh").chmod(0o755)
    files = sorted(path for path in out.iterdir())
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (out / "SHA256SUMS").write_text("".join(lines))


def _sources(folder: Path, version: str) -> Path:
    """The sources under another version."""
    folder.mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "hatch_build.py"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (folder / "pyproject.toml", folder / "src/stead/__init__.py"):
        text = path.read_text()
        path.write_text(re.sub(r'(?m)^((?:__)?version(?:__)? = )"[^"]+"', rf'\1"{version}"', text, count=1))
    return folder


def main() -> int:
    """Run by make."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist/release")
    parser.add_argument("--work", type=Path, default=ROOT / "build/release")
    parser.add_argument("--version", default="")
    parser.add_argument("--sign-key", type=Path, help="an SSH key; the sums are signed with it")
    given = parser.parse_args()
    try:
        release(given.out.absolute(), given.work.absolute(), given.version)
        if given.sign_key:
            sign(given.out.absolute() / "SHA256SUMS", given.sign_key)
    except Failure as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    for path in sorted(given.out.iterdir()):
        print(f"{path.stat().st_size:>12,}  {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
