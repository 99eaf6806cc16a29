"""Findings about clients: definitions, and which stored records belong to which."""

from conformance.findings.coverage import (
    definitions_of,
    findings_by_definition,
    uncovered,
)
from conformance.findings.definitions import (
    Definition,
    all_definitions,
    definition,
    example,
)
from conformance.findings.stored import Stored, stored_records
from conformance.findings.trials import Trial, external_of, parse_trial, try_examples

__all__ = [
    "Definition",
    "Stored",
    "Trial",
    "all_definitions",
    "definition",
    "definitions_of",
    "example",
    "external_of",
    "findings_by_definition",
    "parse_trial",
    "stored_records",
    "try_examples",
    "uncovered",
]
