"""Tools for an assignor's own test suite: strategies and assertions (docs/pytest.md).

Test suites import it through `oracle.pytest_plugin`. It needs the extra ``pytest``.
"""

from conformance.testing.assertions import assert_optimal, assert_valid
from conformance.testing.assigned_members import Assignment
from conformance.testing.churn_run import Assign, Churn
from conformance.testing.first_rebalances import corpus_instances
from conformance.testing.hypothesis_strategies import (
    Instance,
    churn,
    claims,
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
