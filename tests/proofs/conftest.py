"""The compiled proofs and the program; tests that need them fail without Coq."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools import proofs


@pytest.fixture(scope="session")
def compiled() -> Path:
    """Return the folder of the compiled proofs and of the program ``checker``.

    Processes that run tests beside one another wait for the first that builds.
    """
    if lacking := proofs.missing():
        pytest.fail(
            f"Coq is missing ({', '.join(lacking)}): make proofs", pytrace=False
        )
    proofs.build()
    return proofs.BUILD


def linked(compiled: Path, source: Path, folder: Path) -> Path:
    """Link a test's program with the modules of the checker, but its main one."""
    modules = [Path(name).stem for name in proofs.PROGRAM if name.endswith(".ml")]
    objects = [str(compiled / f"{name}.cmx") for name in modules if name != "main"]
    (folder / source.name).write_bytes(source.read_bytes())
    libraries = ["-package", ",".join(proofs.LIBRARIES), "-linkpkg"]
    command = ["ocamlfind", "ocamlopt", "-w", "-a", "-I", str(compiled), *libraries]
    program = folder / source.stem
    subprocess.run(
        [*command, *objects, "-o", str(program), source.name],
        cwd=folder,
        capture_output=True,
        check=True,
    )
    return program
