"""Recordings of real groups under churn: ``python -m studies.recording --out DIR``."""
