"""How many examples a property draws whose cases share them.

A property of every assignor, balance, or policy is one property: in a thorough run its
cases draw as much together as another property does alone, and no case draws less than
in a quick run. `tests.once` repeats such tests as all that Hypothesis draws for.
"""

from __future__ import annotations

from hypothesis import settings

QUICK = 40
"""Examples of a property in a quick run (`tests.conftest`)."""


def shared_by(cases: int) -> settings:
    """Return the settings of each of the cases of one property."""
    most = settings().max_examples
    return settings(deadline=None, max_examples=max(min(QUICK, most), most // cases))


def one_in(count: int) -> settings:
    """Return the settings of a property of which one example is a whole audit."""
    return settings(
        deadline=None, max_examples=max(1, settings().max_examples // count)
    )
