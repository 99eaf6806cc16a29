"""Definitions of findings: one TOML file per finding, in this folder.

The file's name is the finding's id, and that of its page in ``docs/findings/``.
"""

from conformance.findings.definitions.example import example
from conformance.findings.definitions.finding_definition import (
    Definition,
    all_definitions,
    definition,
    read_definition,
)

__all__ = [
    "Definition",
    "all_definitions",
    "definition",
    "example",
    "read_definition",
]
