"""What is asked of a search, and whether it can be asked at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import version
from typing import Final

import numpy as np

from rebalance.claims import Int32
from solver.peak_lag.kinds import kinds_of
from solver.peak_lag.room import Room
from solver.peak_lag.setting import Setting

ENGINE: Final = f"cp-sat {version('ortools')}"
MOST_CHOICES: Final = 60_000
"""Variables; what is larger is left to bounds and exchanges."""

_MOST_PARTITIONS: Final = 100_000
_SUM_MAX: Final = 2**52
"""What is larger is not searched: CP-SAT compares values and bounds as doubles."""

PRESOLVED: Final = 2**30
"""Programs with larger sums are not presolved: OR-Tools 9.15 then loses solutions.

``test_bug_presolve`` of `solver.cpsat` has the model.
"""


class Goal(Enum):
    """What can be made small here."""

    MOVES = "stickiness"
    PEAK = "peak-lag"
    SPREAD = "lag-spread"
    DEVIATION = "lag-deviation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What a search found.

    Attributes
    ----------
    holder : int32 (P,) or None
        Something with less than was to beat.
    bound : int
        No value is below it.
    """

    holder: Int32 | None
    bound: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Whether there is less of a goal than ``beat``, where none is below ``bound``.

    Attributes
    ----------
    within : mapping of Goal to int
        What the levels before allow at most.
    """

    goal: Goal
    beat: int
    bound: int
    within: Mapping[Goal, int]


def fits(setting: Setting) -> bool:
    """Tell whether the program is small enough to be worth building."""
    small = choices(setting.room) <= MOST_CHOICES
    return small and largest_sum(setting, deviation=True) < _SUM_MAX


def largest_sum(setting: Setting, *, deviation: bool) -> int:
    """Return what no sum of a program is above; deviations count in shares."""
    room = setting.room
    largest = int(room.unit.max(initial=1))
    if deviation:
        largest = max(largest, int((setting.scale // room.unit).sum()) * 2)
    return int(room.lag.sum()) * largest


def choices(room: Room) -> int:
    """Count kinds of partitions times who may take them."""
    if room.lag.size > _MOST_PARTITIONS:
        return MOST_CHOICES + 1
    people = np.diff(room.class_first)
    of_topic = np.zeros(room.topic_first.size - 1, np.int64)
    listed = np.repeat(np.arange(of_topic.size), np.diff(room.topic_first))
    np.add.at(of_topic, listed, people[room.topic_classes])
    firsts = [int(kind[0]) for kind in kinds_of(room)]
    return int(of_topic[room.topic[firsts]].sum())
