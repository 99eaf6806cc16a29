"""The named policies are defined once: the documentation lists the same table."""

from __future__ import annotations

from pathlib import Path

import pytest

from solver import NAMED, STICKY, Policy, parse_policy
from solver.policy import OPTIMA

DOCS = Path(__file__).parents[3] / "docs"


def test_every_named_policy_has_a_line_on_its_optimum() -> None:
    assert NAMED.keys() == OPTIMA.keys()
    assert all(OPTIMA.values())
    assert NAMED["sticky"] == STICKY


@pytest.mark.parametrize(("name", "policy"), NAMED.items())
def test_documentation_has_a_row_and_a_page(name: str, policy: Policy) -> None:
    row = f"| [`{name}`](policies/{name}.md) | `{policy}` |"
    assert row in (DOCS / "policies.md").read_text(encoding="utf-8")
    assert (DOCS / "policies" / f"{name}.md").exists()
    assert parse_policy(name) == policy == parse_policy(str(policy))
