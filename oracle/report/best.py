"""Names of the answers that are not an assignor's."""

from __future__ import annotations

from typing import Final

from pipeline.evaluation import ACTUAL, KIP54, OPTIMUM

__all__ = ["ACTUAL", "BESTS", "KIP54", "OPTIMUM"]

BESTS: Final = (OPTIMUM, KIP54)
"""Optima with which assignors are compared; they are not assignors."""
