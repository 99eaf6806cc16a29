"""Limits of number types that several engines rely on, each defined once."""

from __future__ import annotations

from typing import Final

UNBOUNDED: Final = 2**31 - 1
"""No bound on a count: larger than any, and still an int32."""

INT64_MAX: Final = 2**63 - 1
"""Largest value of an objective and of any sum on the way to it."""

EXACT_DOUBLE_MAX: Final = 2**52
"""Largest integer that engines which compare doubles (CP-SAT's bounds, HiGHS) get."""
