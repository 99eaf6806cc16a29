"""Assignments: one column in memory, and the assignment/1 document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import orjson

from rebalance.claims import NOBODY, Int32, Int64
from rebalance.compiled import kernels_are_interpreted
from rebalance.documents import AssignmentDocument, Figures, to_json
from rebalance.errors import InstanceError
from rebalance.instance import Instance

TEXT_PARTITIONS: Final = 10_000
"""Assignments of fewer partitions are written before the kernels are loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The assigned member of each partition.

    Attributes
    ----------
    assignee : int32 (P,)
        Member of each partition of the instance; -1: none.
    """

    assignee: Int32

    def __post_init__(self) -> None:
        """Freeze the column."""
        self.assignee.setflags(write=False)

    def loads(self, instance: Instance) -> Int64:
        """Partitions of each member, int64 (M,)."""
        given = self.assignee[self.assignee != NOBODY]
        return np.bincount(given, minlength=len(instance.members))


def members_of(
    instance: Instance, assignment: Assignment
) -> dict[str, dict[str, list[int]]]:
    """Return the assignment as member → topic → numbers, with every member present."""
    order = np.argsort(assignment.assignee, kind="stable")
    order = order[np.searchsorted(assignment.assignee[order], 0) :]
    member = assignment.assignee[order]
    topic = instance.partition_topic[order]
    number = (order - instance.topic_offsets[topic]).tolist()
    new_run = (member[1:] != member[:-1]) | (topic[1:] != topic[:-1])
    starts = np.flatnonzero(np.r_[order.size > 0, new_run])
    ends = np.r_[starts[1:], order.size][: starts.size]  # empty if nothing is assigned
    written: dict[str, dict[str, list[int]]] = {name: {} for name in instance.members}
    for m, t, start, end in zip(
        member[starts].tolist(),
        topic[starts].tolist(),
        starts.tolist(),
        ends.tolist(),
        strict=True,
    ):
        written[instance.members[m]][instance.topics[t]] = number[start:end]
    return written


def document_of(
    instance: Instance,
    assignment: Assignment,
    *,
    assignor: str,
    figures: Figures | None = None,
) -> AssignmentDocument:
    """Build an assignment/1 document; absent parts are omitted."""
    about = about_assignment(instance, assignor=assignor, figures=figures)
    return with_members(about, instance, assignment)


def about_assignment(
    instance: Instance, *, assignor: str, figures: Figures | None = None
) -> AssignmentDocument:
    """Build the document of `document_of` without its members."""
    # model_construct: made from a valid instance, so there is nothing to validate.
    return AssignmentDocument.model_construct(
        group=instance.group,
        id=instance.id,
        members={},
        assignor=assignor,
        figures=figures,
    )


def with_members(
    about: AssignmentDocument, instance: Instance, assignment: Assignment
) -> AssignmentDocument:
    """Return a document with the members of an assignment."""
    return about.model_copy(update={"members": members_of(instance, assignment)})


def assignment_json(
    instance: Instance, assignment: Assignment, about: AssignmentDocument
) -> bytes:
    """Write an assignment/1 document canonically, as `rebalance.to_json` does.

    Parameters
    ----------
    about : AssignmentDocument
        All other fields; its ``members`` are disregarded.
    """
    if instance.n_partitions < TEXT_PARTITIONS or kernels_are_interpreted():
        return to_json(with_members(about, instance, assignment))
    # Imported here: it compiles kernels.
    from rebalance.assignment_text import members_text  # noqa: PLC0415

    plain = about.model_dump(exclude_none=True, exclude={"members"})
    plain["members"] = orjson.Fragment(members_text(instance, assignment))
    return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)


def assignment_of(instance: Instance, document: AssignmentDocument) -> Assignment:
    """Encode a document's assignment as a column.

    Raises
    ------
    InstanceError
        If it names an unknown member, topic, or partition, or assigns a partition
        twice, which a column cannot represent. The judge (``verify``) reports these.
    """
    assignee = np.full(instance.n_partitions, NOBODY, dtype=np.int32)
    sizes = dict(zip(instance.topics, instance.topic_sizes.tolist(), strict=True))
    first = dict(zip(instance.topics, instance.topic_offsets.tolist(), strict=False))
    number = {member_id: m for m, member_id in enumerate(instance.members)}
    for member_id, held in document.members.items():
        if member_id not in number:
            raise InstanceError("unknown member", subject=member_id)
        for topic, numbers in held.items():
            if topic not in sizes:
                raise InstanceError("unknown topic", subject=topic)
            if numbers and max(numbers) >= sizes[topic]:
                raise InstanceError("unknown partition", subject=(topic, max(numbers)))
            rows = first[topic] + np.array(numbers, dtype=np.int64)
            if (assignee[rows] != NOBODY).any() or np.unique(rows).size != rows.size:
                raise InstanceError("partition assigned twice", subject=topic)
            assignee[rows] = number[member_id]
    return Assignment(assignee=assignee)
