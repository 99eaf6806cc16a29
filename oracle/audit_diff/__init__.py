"""Changes between two audits: diff/1 (docs/diff.md)."""

from oracle.audit_diff.compare_audits import (
    diff_of_audits,
    diff_of_last_night,
    diff_of_store,
)
from oracle.audit_diff.diff_records import AuditDiff
from oracle.audit_diff.diff_sentences import news_of, worse_lines

__all__ = [
    "AuditDiff",
    "diff_of_audits",
    "diff_of_last_night",
    "diff_of_store",
    "news_of",
    "worse_lines",
]
