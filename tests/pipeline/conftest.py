"""Fixtures of the pipeline's tests."""

from tests.pipeline.churn_audit import churn_audit

__all__ = ["churn_audit"]
