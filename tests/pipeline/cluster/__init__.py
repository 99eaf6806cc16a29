"""Audits on a standalone cluster, and with other versions of Spark."""
