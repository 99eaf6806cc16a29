"""The public names of `rebalance`, whose modules are imported on first use."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rebalance


def names_for_types() -> set[str]:
    """Return what ``__init__`` imports for type checkers."""
    tree = ast.parse(Path(rebalance.__file__).read_text("utf-8"))
    branch = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in branch.body if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in imports for alias in node.names}


def test_every_public_name_exists_at_run_time_and_for_type_checkers() -> None:
    assert names_for_types() == set(rebalance.__all__) == set(dir(rebalance))
    for name in rebalance.__all__:
        assert getattr(rebalance, name) is not None


def test_other_names_do_not_exist() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        rebalance.nothing  # noqa: B018 - reading it is the test


def test_reading_documents_imports_no_numpy() -> None:
    script = (
        "import sys; from rebalance import DocumentError, parse_rebalance;"
        "print('numpy' in sys.modules)"
    )
    command = [sys.executable, "-c", script]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stdout == "False\n"
