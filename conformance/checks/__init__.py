"""Conformance of one subject: every check of the corpus and of drawn families."""

from conformance.checks.check import CORPUS, UNMET, Check
from conformance.checks.giving_up import MOST_HANGS, GaveUpError, until_hanging
from conformance.checks.junit import JunitReport
from conformance.checks.random_draws import family_checks
from conformance.checks.report import Report
from conformance.checks.scenario_play import algorithms, corpus_checks
from conformance.checks.tap import TapReport
from conformance.checks.totals import PartTotals, Totals

__all__ = [
    "CORPUS",
    "MOST_HANGS",
    "UNMET",
    "Check",
    "GaveUpError",
    "JunitReport",
    "PartTotals",
    "Report",
    "TapReport",
    "Totals",
    "algorithms",
    "corpus_checks",
    "family_checks",
    "until_hanging",
]
