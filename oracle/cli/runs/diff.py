"""Compare two audits, and print the changes."""

from __future__ import annotations

from oracle.audit_diff import AuditDiff, diff_of_audits, diff_of_store
from oracle.cli.options.diff import DiffOptions
from oracle.cli.printing.diff import diff_parts
from oracle.cli.printing.sink import STDOUT, opened_sink
from oracle.cli.printing.terminal import printed


def print_diff(options: DiffOptions) -> None:
    """Run ``diff``."""
    found = _compared(options)
    is_document = options.as_json or options.output != STDOUT
    with opened_sink(options.output, as_json=is_document) as sink:
        if is_document:
            sink.write_document(found.to_document())
        else:
            sink.write_text(printed(*diff_parts(found)))


def _compared(options: DiffOptions) -> AuditDiff:
    if options.history is not None:
        return diff_of_store(options.history, options.since)
    assert options.old is not None  # noqa: S101  # the options have been checked
    assert options.new is not None  # noqa: S101
    return diff_of_audits(options.old, options.new)
