"""Instances, assignments, claims and their documents: the words of the project."""

from rebalance.assignment import Assignment, assignment_of, document_of
from rebalance.claims import ClaimRule, Claims
from rebalance.columns import instance_of
from rebalance.documents import (
    AssignmentDocument,
    Rebalance,
    parse_assignment,
    parse_rebalance,
    to_json,
)
from rebalance.errors import DocumentError, InstanceError, OracleError
from rebalance.figures import figures_of
from rebalance.instance import Instance, Racks

__all__ = [
    "Assignment",
    "AssignmentDocument",
    "ClaimRule",
    "Claims",
    "DocumentError",
    "Instance",
    "InstanceError",
    "OracleError",
    "Racks",
    "Rebalance",
    "assignment_of",
    "document_of",
    "figures_of",
    "instance_of",
    "parse_assignment",
    "parse_rebalance",
    "to_json",
]
