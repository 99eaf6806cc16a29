"""Conformance of one subject: every check of the corpus and of drawn families."""

from conformance.checks.check import CORPUS, Check
from conformance.checks.check_report import Report
from conformance.checks.diagnosis import LONGEST, CommandOf, diagnosis
from conformance.checks.examination import examined_checks
from conformance.checks.giving_up import MOST_HANGS, GaveUpError, until_hanging
from conformance.checks.junit import JunitReport
from conformance.checks.random_draws import family_checks
from conformance.checks.scenario_play import algorithms, corpus_checks
from conformance.checks.selection import (
    UnknownCheckError,
    find_check,
    name_of_check,
    selected_check,
)
from conformance.checks.tap import TapReport
from conformance.checks.totals import PartTotals, Totals

__all__ = [
    "CORPUS",
    "LONGEST",
    "MOST_HANGS",
    "Check",
    "CommandOf",
    "GaveUpError",
    "JunitReport",
    "PartTotals",
    "Report",
    "TapReport",
    "Totals",
    "UnknownCheckError",
    "algorithms",
    "corpus_checks",
    "diagnosis",
    "examined_checks",
    "family_checks",
    "find_check",
    "name_of_check",
    "selected_check",
    "until_hanging",
]
