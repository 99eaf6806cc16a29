"""What an engine says: an assignment, how it ended, and what its claim rests on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rebalance import Assignment, AssignmentDocument, Instance, document_of, figures_of
from solver.certificate import Certificate


class Status(Enum):
    """How a solve ended. Only OPTIMAL is a claim about every other assignment."""

    OPTIMAL = "optimal"  # proved: the objective equals its bound
    FEASIBLE = "feasible"  # valid, stopped before a proof
    INFEASIBLE = "infeasible"  # proved: no assignment meets the constraints
    UNKNOWN = "unknown"  # stopped with nothing to show


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The stickiest of the best-balanced assignments, with its proof.

    Attributes
    ----------
    assignment : Assignment
    status : Status
    certificate : Certificate
        Whoever doubts the status checks this (``verify``).
    kept : int
        Owned partitions that stay with their owner.
    most_kept : int
        No balanced assignment keeps more; equals ``kept`` when OPTIMAL.
    """

    assignment: Assignment
    status: Status
    certificate: Certificate
    kept: int
    most_kept: int

    def to_document(
        self, instance: Instance, *, assignor: str = "oracle"
    ) -> AssignmentDocument:
        """Write the answer as assignment/1, figures and certificate included."""
        figures = figures_of(instance, self.assignment)
        if self.status is Status.OPTIMAL:
            # Proved by the certificate; without capacities dec-min implies KIP-54's
            # local balance, which always goes by counts.
            proved = {"dec_min_balanced": True}
            if self.certificate.threshold is None:
                proved["kip54_balanced"] = True
            figures = figures.model_copy(update=proved)
        return document_of(
            instance,
            self.assignment,
            assignor=assignor,
            status=self.status.value,
            figures=figures,
            certificate=self.certificate.to_document(instance),
        )
