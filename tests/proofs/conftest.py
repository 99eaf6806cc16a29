"""The compiled proofs and the program; tests that need them fail without Coq."""

from __future__ import annotations

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
