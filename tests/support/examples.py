"""How many examples a property draws that has several cases, or costly examples.

A property of every assignor, balance, or policy is one property: its cases share the
examples of one, and each draws `LEAST` or more.
"""

from __future__ import annotations

from hypothesis import settings

LEAST = 40
"""Examples of each case, at least; fewer only where the profile draws fewer."""

CI = 120
"""Examples of a property in CI (`tests.conftest`)."""


def shared_by(cases: int) -> settings:
    """Return the settings of each of the cases of one property."""
    most = settings().max_examples
    return settings(deadline=None, max_examples=max(min(LEAST, most), most // cases))


def costly() -> settings:
    """Return the settings of a property that takes two seconds or more in CI.

    It draws `LEAST` examples there, and as many as others at night.
    """
    most = settings().max_examples
    return settings(deadline=None, max_examples=most if most > CI else min(LEAST, most))


def one_in(count: int) -> settings:
    """Return the settings of a property of which one example is a whole audit."""
    return settings(
        deadline=None, max_examples=max(1, settings().max_examples // count)
    )
