"""Instances, assignments, claims, and their documents, shared by all packages.

`rebalance.protocol` has the bytes of the consumer protocol, `rebalance.arrow` the Arrow
form; `rebalance.building` makes instances from tables and from Admin clients.

A module is imported when one of its names is first used (PEP 562): code that only reads
documents starts without numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rebalance.assignment import (
        Assignment,
        about_assignment,
        assignment_json,
        assignment_of,
        document_of,
        members_of,
        with_members,
    )
    from rebalance.assignment_bytes import encode_assignments
    from rebalance.assignment_text import (
        Texts,
        by_member,
        copy_text,
        members_size,
        write_members,
        write_number,
    )
    from rebalance.claims import (
        NOBODY,
        Bools,
        ClaimRule,
        Claims,
        Int32,
        Int64,
    )
    from rebalance.collection import without_collection
    from rebalance.columns import instance_of, subscription_classes
    from rebalance.compiled import (
        always_compiled,
        argument,
        borrowing_kernel,
        inlined_kernel,
        interpret_kernels,
        kernel,
        kernels_are_interpreted,
    )
    from rebalance.culprits import schema_error
    from rebalance.display import html_table
    from rebalance.documents import (
        INT64_MAX,
        MAX_PARTITIONS,
        UNKNOWN_GENERATION,
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
        DEVICE_FAILURES,
        DocumentError,
        InstanceError,
        OracleError,
        OutputError,
        OutsideError,
        PolicyError,
        SourceError,
        WireError,
        is_device_failure,
    )
    from rebalance.extras import (
        MissingExtraError,
        extra_needed,
        extra_of,
        install_command,
    )
    from rebalance.figures import (
        count_kept,
        count_rack_mismatches,
        figures_of,
        member_lag,
    )
    from rebalance.instance import ABSENT, Instance, Racks
    from rebalance.jsontext import json_path, parse_json
    from rebalance.lag import NOT_COMMITTED, OffsetReset, lag_of
    from rebalance.ownership import Subscriptions, write_owners
    from rebalance.parsing import (
        parse_assignment,
        parse_rebalance,
        parse_record,
        rebalance_of,
    )
    from rebalance.reading import (
        read_documents,
        read_rebalances,
        read_rebalances_or_columns,
        rebalances_in,
    )
    from rebalance.strict_schema import StrictJsonSchema, document_schema
    from rebalance.temporary import private_folder

__all__ = [
    "ABSENT",
    "DEVICE_FAILURES",
    "INT64_MAX",
    "MAX_PARTITIONS",
    "NOBODY",
    "NOT_COMMITTED",
    "UNKNOWN_GENERATION",
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
    "StrictJsonSchema",
    "Subscriptions",
    "TermsProof",
    "Texts",
    "Topic",
    "Value",
    "WireError",
    "about_assignment",
    "always_compiled",
    "argument",
    "assignment_json",
    "assignment_of",
    "borrowing_kernel",
    "by_member",
    "copy_text",
    "count_kept",
    "count_rack_mismatches",
    "document_of",
    "document_schema",
    "encode_assignments",
    "extra_needed",
    "extra_of",
    "figures_of",
    "html_table",
    "inlined_kernel",
    "install_command",
    "instance_of",
    "interpret_kernels",
    "is_device_failure",
    "json_path",
    "kernel",
    "kernels_are_interpreted",
    "lag_of",
    "member_lag",
    "members_of",
    "members_size",
    "parse_assignment",
    "parse_json",
    "parse_rebalance",
    "parse_record",
    "plain_of",
    "private_folder",
    "read_documents",
    "read_rebalances",
    "read_rebalances_or_columns",
    "rebalance_of",
    "rebalances_in",
    "schema_error",
    "subscription_classes",
    "to_json",
    "with_members",
    "without_collection",
    "write_members",
    "write_number",
    "write_owners",
]

# By module, the names that it has; the same as above, and as in ``__all__``.
_MODULES: Final = {
    "assignment_bytes": "encode_assignments",
    "assignment_text": (
        "Texts by_member copy_text members_size write_members write_number"
    ),
    "assignment": (
        "Assignment about_assignment assignment_json assignment_of document_of "
        "members_of with_members"
    ),
    "claims": "NOBODY Bools ClaimRule Claims Int32 Int64",
    "collection": "without_collection",
    "columns": "instance_of subscription_classes",
    "compiled": "always_compiled argument borrowing_kernel inlined_kernel "
    "interpret_kernels kernel kernels_are_interpreted",
    "culprits": "schema_error",
    "display": "html_table",
    "documents": (
        "INT64_MAX MAX_PARTITIONS UNKNOWN_GENERATION AssignmentDocument BoundTerm "
        "CertificateDocument CertificateProof Count Figures Member "
        "ObjectiveDocument Optional PriceWeights Proof Rebalance SearchProof "
        "TermsProof Topic Value plain_of to_json"
    ),
    "errors": (
        "DEVICE_FAILURES DocumentError InstanceError OracleError OutputError "
        "OutsideError PolicyError SourceError WireError is_device_failure"
    ),
    "extras": "MissingExtraError extra_needed extra_of install_command",
    "figures": "count_kept count_rack_mismatches figures_of member_lag",
    "instance": "ABSENT Instance Racks",
    "jsontext": "json_path parse_json",
    "lag": "NOT_COMMITTED OffsetReset lag_of",
    "ownership": "Subscriptions write_owners",
    "parsing": "parse_assignment parse_rebalance parse_record rebalance_of",
    "reading": (
        "read_documents read_rebalances read_rebalances_or_columns rebalances_in"
    ),
    "strict_schema": "StrictJsonSchema document_schema",
    "temporary": "private_folder",
}
_MODULE_OF: Final = {
    name: module for module, names in _MODULES.items() for name in names.split()
}


def __getattr__(name: str) -> Any:
    """Import the module of a public name, and keep the name for later."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"rebalance.{_MODULE_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
