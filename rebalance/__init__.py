"""Instances, assignments, claims, and their documents, shared by all packages.

`rebalance.protocol` has the bytes of the consumer protocol, `rebalance.arrow` the Arrow
form.
"""

from rebalance.assignment import Assignment, assignment_of, document_of, members_of
from rebalance.claims import (
    NOBODY,
    Bools,
    ClaimRule,
    Claims,
    Int32,
    Int64,
    owners,
)
from rebalance.columns import instance_of
from rebalance.documents import (
    INT64_MAX,
    MAX_PARTITIONS,
    AssignmentDocument,
    BoundTerm,
    CertificateDocument,
    CertificateProof,
    Count,
    Figures,
    Member,
    ObjectiveDocument,
    Optional,
    PriceWeights,
    Proof,
    Rebalance,
    SearchProof,
    TermsProof,
    Topic,
    Value,
    plain_of,
    to_json,
)
from rebalance.errors import (
    DocumentError,
    InstanceError,
    OracleError,
    OutputError,
    OutsideError,
    PolicyError,
    SourceError,
    WireError,
)
from rebalance.extras import (
    MissingExtraError,
    extra_needed,
    extra_of,
    install_command,
)
from rebalance.figures import count_kept, count_rack_mismatches, figures_of, member_lag
from rebalance.instance import ABSENT, Instance, Racks
from rebalance.jsontext import json_path, parse_json
from rebalance.lag import NOT_COMMITTED, OffsetReset, lag_of
from rebalance.parsing import parse_assignment, parse_rebalance, rebalance_of
from rebalance.reading import (
    read_assignments,
    read_documents,
    read_rebalances,
    read_values,
    rebalances_in,
)

__all__ = [
    "ABSENT",
    "INT64_MAX",
    "MAX_PARTITIONS",
    "NOBODY",
    "NOT_COMMITTED",
    "Assignment",
    "AssignmentDocument",
    "Bools",
    "BoundTerm",
    "CertificateDocument",
    "CertificateProof",
    "ClaimRule",
    "Claims",
    "Count",
    "DocumentError",
    "Figures",
    "Instance",
    "InstanceError",
    "Int32",
    "Int64",
    "Member",
    "MissingExtraError",
    "ObjectiveDocument",
    "OffsetReset",
    "Optional",
    "OracleError",
    "OutputError",
    "OutsideError",
    "PolicyError",
    "PriceWeights",
    "Proof",
    "Racks",
    "Rebalance",
    "SearchProof",
    "SourceError",
    "TermsProof",
    "Topic",
    "Value",
    "WireError",
    "assignment_of",
    "count_kept",
    "count_rack_mismatches",
    "document_of",
    "extra_needed",
    "extra_of",
    "figures_of",
    "install_command",
    "instance_of",
    "json_path",
    "lag_of",
    "member_lag",
    "members_of",
    "owners",
    "parse_assignment",
    "parse_json",
    "parse_rebalance",
    "plain_of",
    "read_assignments",
    "read_documents",
    "read_rebalances",
    "read_values",
    "rebalance_of",
    "rebalances_in",
    "to_json",
]
