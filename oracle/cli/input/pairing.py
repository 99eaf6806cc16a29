"""Match assignments to instances by id if both have one, else by place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import verify
from oracle.cli.input.input_documents import Complaints, good
from rebalance import DocumentError, SourceError, read_documents

Document = dict[str, Any]


class Instances:
    """Instances of a run of ``judge``; any number of assignments can refer to each.

    An unreadable instance counts as a place, so that later places do not shift.
    """

    def __init__(self, source: str, documents: Iterable[Document | DocumentError]):
        self.source = source
        self.documents = list(documents)
        self.place_of: dict[str, int] = {}
        self.answered: set[int] = set()
        for place, document in enumerate(self.documents):
            if isinstance(document, DocumentError) or "id" not in document:
                continue
            first = self.place_of.setdefault(document["id"], place)
            if first != place:
                reason = f"id {document['id']!r} is that of document {first + 1}, too"
                raise SourceError(f"document {place + 1}: {reason}", source=source)

    def of(self, assignment: Document, place: int) -> Document | DocumentError:
        """Return the instance of the assignment at ``place``, from 0.

        Raises
        ------
        SourceError
            If there is none, or it belongs to another group.
        """
        found = self.place_of.get(assignment["id"]) if "id" in assignment else None
        if found is None:
            found = place
            if place >= len(self.documents):
                raise self._none(assignment, "contains no document at this place")
        instance = self.documents[found]
        if not isinstance(instance, DocumentError):
            if "id" in instance and instance["id"] != assignment.get(
                "id", instance["id"]
            ):
                raise self._none(assignment, "contains no document with this id")
            group = instance["group"]
            if group != assignment.get("group", group):
                reason = f"contains group {group!r} at this place"
                raise self._none(assignment, reason)
        self.answered.add(found)
        return instance

    def pass_over(self, place: int) -> None:
        """Mark the instance at ``place`` as answered by an unreadable assignment."""
        self.answered.add(place)

    def _none(self, assignment: Document, reason: str) -> SourceError:
        named = {key: assignment[key] for key in ("group", "id") if key in assignment}
        return SourceError(f"{reason}: {named}", source=self.source)

    @property
    def unanswered(self) -> list[int]:
        """Places, from 0, of the readable instances without an assignment."""
        return [
            place
            for place, document in enumerate(self.documents)
            if place not in self.answered and not isinstance(document, DocumentError)
        ]

    @property
    def unanswered_text(self) -> str:
        """Complaint about the readable instances without an assignment."""
        places = ", ".join(str(place + 1) for place in self.unanswered[:5])
        number = len(self.unanswered)
        return f"{self.source}: {number:,} without an assignment: document {places}"


def pairs_of(
    known: Instances, source: str, complaints: Complaints
) -> Iterator[tuple[int, Document | DocumentError, Document | DocumentError]]:
    """Yield the number, from 1, of each assignment, its instance, and the assignment.

    Instances and assignments that cannot be read are reported, and so are those that
    belong to nothing. The instance of an unreadable assignment is the assignment.
    """
    for _ in good(known.documents, complaints):
        pass  # reports the instances that cannot be read
    assignments = _read_judged(source, verify.read_assignment)
    for place, assignment in enumerate(assignments):
        if isinstance(assignment, DocumentError):
            complaints.add_error(assignment)
            known.pass_over(place)
            yield place + 1, assignment, assignment
            continue
        try:
            instance = known.of(assignment, place)
        except SourceError as error:
            complaints.add(f"{source}: document {place + 1}: {error}")
        else:
            yield place + 1, instance, assignment
    if known.unanswered:
        complaints.add(known.unanswered_text)


def read_instances(
    source: str, max_partitions: int
) -> Iterator[Document | DocumentError]:
    """Read instances with the judge's own reader."""
    read = partial(verify.read_rebalance, max_partitions=max_partitions)
    return _read_judged(source, read)


def _read_judged(
    source: str, read: Callable[[bytes], Document]
) -> Iterator[Document | DocumentError]:
    """Read documents with the judge's own reader."""

    def parse(text: bytes, *, source: str | None, line: int | None) -> Document:
        try:
            return read(text)
        except verify.Unreadable as error:
            raise DocumentError(
                error.reason,
                path=error.path,
                source=source,
                line=line,
                more=error.more,
            ) from None

    return read_documents(source, parse)
