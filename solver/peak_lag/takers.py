"""Who may take each topic's partitions, and which cells count them, as lists."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solver.peak_lag.room import Room


class Takers(NamedTuple):
    """The takers of a topic.

    Attributes
    ----------
    members : list of int
        Ascending.
    cells : list of int
        What counts the topic's partitions with each of them.
    """

    members: list[int]
    cells: list[int]


def takers_of(room: Room) -> list[Takers]:
    """List the takers of every topic."""
    found = []
    for t in range(room.topic_first.size - 1):
        members, cells = [], []
        for k in room.topic_classes[room.topic_first[t] : room.topic_first[t + 1]]:
            people = room.class_members[room.class_first[k] : room.class_first[k + 1]]
            wanted = room.open[room.first[k] : room.first[k + 1]]
            place = int(np.searchsorted(wanted, t)) if room.by_topic else 0
            members.append(people)
            cells.append(room.cell[people] + place)
        everyone, counted = np.concatenate(members), np.concatenate(cells)
        order = np.argsort(everyone)
        found.append(Takers(everyone[order].tolist(), counted[order].tolist()))
    return found
