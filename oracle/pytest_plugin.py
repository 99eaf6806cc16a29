"""Plugin of pytest for test suites of assignors (docs/pytest.md).

The strategies ``instances``, ``claims`` and ``churn``, and the assertions
``assert_valid`` and ``assert_optimal`` are imported from here. pytest loads this module
at every start, so that it imports their packages only when one of them is used. A test
with an argument ``corpus_instance`` runs once per scenario of the corpus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from conformance.testing import (
        Assign,
        Assignment,
        Churn,
        Instance,
        assert_optimal,
        assert_valid,
        churn,
        claims,
        corpus_instances,
        instances,
    )

__all__ = [
    "Assign",
    "Assignment",
    "Churn",
    "Instance",
    "assert_optimal",
    "assert_valid",
    "churn",
    "claims",
    "corpus_instances",
    "instances",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562).

    Raises
    ------
    MissingExtraError
        If hypothesis is not installed: the extra ``pytest`` is missing.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rebalance import extra_needed

    with extra_needed(__name__):
        from conformance import testing
    if name == "assert_optimal":  # now: within a test, it would exceed the deadline
        from solver import STICKY, load_kernels

        load_kernels(STICKY)
    return getattr(testing, name)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with ``corpus_instance`` on the first rebalance of each scenario."""
    if "corpus_instance" in metafunc.fixturenames:
        found = __getattr__("corpus_instances")()
        metafunc.parametrize("corpus_instance", found.values(), ids=found.keys())
