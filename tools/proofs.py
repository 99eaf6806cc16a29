"""Compile the proofs, extract the checker, and build it: ``build/proofs/checker``.

Sources are copied to ``build/proofs``, so that nothing lands beside them. Each file is
compiled again only if it, or one before it in ``proofs/_CoqProject``, has changed.
Missing programs are installed by root on Debian and its derivatives.

Exit code: 0 built, 1 a proof or the program does not compile, 3 Coq or OCaml is
missing.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from tools.debian import install_packages

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "proofs"
BUILD = ROOT / "build" / "proofs"
CHECKER = BUILD / "checker"
PACKAGES = (
    "coq",
    "ocaml-findlib",
    "ocaml",
    "libzarith-ocaml-dev",
)
LIBRARIES = ("zarith",)
PROGRAM = (
    "integers.ml",
    "core.mli",
    "core.ml",
    "lists.ml",
    "json.ml",
    "documents.ml",
    "rebalance.ml",
    "certificate.ml",
    "policy.ml",
    "narrowed.ml",
    "regions.ml",
    "views.ml",
    "terms.ml",
    "answer.ml",
    "pairs.ml",
    "levels.ml",
    "main.ml",
)
"""Modules of the program in order of dependency; ``core`` is extracted."""

BUILT, BROKEN, MISSING = 0, 1, 3


class BrokenProofError(Exception):
    """A command that failed; the message is its output."""


def missing() -> list[str]:
    """Return the programs and OCaml libraries that the build needs and lacks."""
    programs = ("coqc", "ocamlfind", "ocamlopt")
    lacking = [name for name in programs if shutil.which(name) is None]
    if "ocamlfind" in lacking:
        return [*lacking, *LIBRARIES]
    return lacking + [name for name in LIBRARIES if not _has_library(name)]


def files() -> list[str]:
    """Return the names of Coq's files in order of dependency."""
    lines = (SOURCES / "_CoqProject").read_text("utf-8").splitlines()
    return [line for line in lines if line.endswith(".v")]


def build() -> None:
    """Compile the proofs and build the checker.

    Raises
    ------
    BrokenProofError
        If something does not compile.
    """
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:  # tests build in several processes
        fcntl.flock(lock, fcntl.LOCK_EX)
        _build()


def _build() -> None:
    digest = hashlib.sha256()
    for name in files():
        source = (SOURCES / name).read_bytes()
        digest.update(source)
        _once(name, digest.hexdigest(), source, ["coqc", "-q", "-Q", ".", "Assignor"])
    for path in sorted((SOURCES / "checker").glob("*.ml")):
        digest.update(path.name.encode() + path.read_bytes())
        shutil.copy(path, BUILD)
    with_libraries = ["-package", ",".join(LIBRARIES), "-linkpkg"]
    # No warnings: extracted code has unused names.
    command = ["ocamlfind", "ocamlopt", "-inline", "100", "-w", "-a", *with_libraries]
    _once("checker", digest.hexdigest(), None, [*command, "-o"], PROGRAM)


def _once(
    name: str,
    digest: str,
    source: bytes | None,
    command: list[str],
    more: tuple[str, ...] = (),
) -> None:
    """Run a command on a file unless its last success was with the same input."""
    stamp = BUILD / f"{name}.digest"
    if stamp.exists() and stamp.read_text("utf-8") == digest:
        return
    stamp.unlink(missing_ok=True)
    print(f"proofs: {name}", flush=True)
    if source is not None:
        (BUILD / name).write_bytes(source)
    ran = subprocess.run(
        [*command, name, *more],
        cwd=BUILD,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if ran.returncode != 0:
        raise BrokenProofError(f"{name} does not compile:\n{ran.stdout}{ran.stderr}")
    stamp.write_text(digest, "utf-8")


def _has_library(name: str) -> bool:
    command = ["ocamlfind", "query", name]
    ran = subprocess.run(command, capture_output=True, check=False)
    return ran.returncode == 0


def main(arguments: list[str] | None = None) -> int:
    """Install missing parts, build, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.proofs", description=__doc__)
    parser.parse_args(arguments)
    if missing():
        print(f"proofs: installing {', '.join(PACKAGES)} with apt-get", flush=True)
        failure = install_packages(*PACKAGES)
        if failure is not None:
            print(f"proofs: that failed: {failure}", flush=True)
    if lacking := missing():
        print(f"proofs: missing: {', '.join(lacking)}; nothing is proved here")
        return MISSING
    try:
        build()
    except BrokenProofError as error:
        print(f"proofs: {error}", file=sys.stderr)
        return BROKEN
    print(f"proofs: {CHECKER.relative_to(ROOT)}")
    return BUILT


if __name__ == "__main__":
    sys.exit(main())
