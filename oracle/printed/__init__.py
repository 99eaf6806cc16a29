"""Records of the documents that commands only print, from which their schemas are made.

The commands write plain JSON values, as the judge does, which imports nothing; tests
validate what they print against these records.
"""

from oracle.printed.check_records import CheckRecord
from oracle.printed.comparison_records import Comparison
from oracle.printed.frontier_records import FrontierRecord
from oracle.printed.printed_record import PrintedRecord
from oracle.printed.verdict_records import VerdictRecord

PRINTED: tuple[type[PrintedRecord], ...] = (
    CheckRecord,
    Comparison,
    FrontierRecord,
    VerdictRecord,
)
"""The records, one per format."""

__all__ = [
    "PRINTED",
    "CheckRecord",
    "Comparison",
    "FrontierRecord",
    "PrintedRecord",
    "VerdictRecord",
]
