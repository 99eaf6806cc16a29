"""Histories of no groups: they compile the kernels of records and histories."""

from __future__ import annotations

import numpy as np

from pipeline.history.commit_walk import commits_at, no_offsets, slots_of
from pipeline.history.consumer_parts import numbered, parts_of
from pipeline.history.generation_walk import walk_generations
from pipeline.history.participants import assigned_topics, participants_of, topics_of
from pipeline.history.reached_walk import walk_reached
from pipeline.history.shown_walk import walk_shown
from pipeline.history.target_topics import (
    all_of_targets,
    assigned_by_targets,
    subscriptions,
    wanted_of_targets,
)
from pipeline.history.target_walk import walk_targets
from pipeline.history.walked_records import Groups, which_went_back
from pipeline.records.record_tape import Binaries, tape_of
from rebalance import Int64


def walk_no_groups() -> None:
    """Read no records, and walk no groups of either protocol."""
    nothing = Binaries(
        np.frombuffer(b"", np.uint8), np.zeros(1, np.int64), np.zeros(0, np.bool_)
    )
    records = tape_of(nothing, nothing)
    none, rank = _none(), np.zeros(records.names.used[0], np.int64)
    went_back = which_went_back(none, none, none)
    kind, at, tape = records.kind, records.at, records.tape
    groups = Groups(none, none, kind, at, tape, none, went_back)
    slots = slots_of(groups, rank, none)

    people = participants_of(records, rank)
    cases = walk_generations(groups, people, rank)
    topics = topics_of(people, cases.row)
    assigned = assigned_topics(people)
    walk_shown(groups, slots, assigned, len(rank), cases.row, topics)
    commits_at(groups, slots, no_offsets(slots), cases.row, none, topics)

    parts = parts_of(records, none)
    targets = walk_targets(groups, parts, rank)
    parts = numbered(parts, none)
    walk_reached(groups, parts, targets, len(rank))
    wanted = subscriptions(records, targets, rank)
    wanted_of_targets(targets, none, wanted)
    assigned_by_targets(targets, parts, len(rank), 0)
    all_of_targets(targets, none, wanted, parts, len(rank))


def _none() -> Int64:
    return np.zeros(0, np.int64)
