"""Fixtures of the tests of alerts."""

from tests.pipeline.churn_audit import churn_audit

__all__ = ["churn_audit"]
