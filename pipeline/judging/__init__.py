"""Rows of the audit's tables, computed from cases: instance, answers, verdicts."""
