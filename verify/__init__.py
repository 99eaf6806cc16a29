"""The judge: believes nobody, imports nothing but the standard library.

It reads ``rebalance/1`` and ``assignment/1`` documents and returns ``verdict/1``.
``python -m verify INSTANCE ASSIGNMENT`` is the same from a shell.
"""

from verify.case import Case, understand
from verify.certificate import kept_bound, peak_lag_bound
from verify.enumerate import TooLarge, best, every_assignment
from verify.judge import judge, judge_case, judge_texts, unreadable
from verify.read import read_assignment, read_rebalance
from verify.strict import Unreadable

__all__ = [
    "Case",
    "TooLarge",
    "Unreadable",
    "best",
    "every_assignment",
    "judge",
    "judge_case",
    "judge_texts",
    "kept_bound",
    "peak_lag_bound",
    "read_assignment",
    "read_rebalance",
    "understand",
    "unreadable",
]
