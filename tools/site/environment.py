"""Make ``build/site-environment``: the present environment, and the site's generator.

Sphinx, its theme, and the program that executes notebooks (``requirements/docs.lock``)
are only installed when a site is built. Notebooks import the packages of the checkout.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tools.side_environment import ROOT, side_environment

LOCK: Final = ROOT / "requirements" / "docs.lock"
VENV: Final = ROOT / "build" / "site-environment"


def make_environment() -> Path:
    """Make the environment if it is not current; return its Python.

    Raises
    ------
    SetUpError
        If the packages cannot be installed.
    """
    VENV.parent.mkdir(exist_ok=True)
    side_environment(VENV, LOCK, is_overlay=True)
    return VENV / "bin" / "python"
