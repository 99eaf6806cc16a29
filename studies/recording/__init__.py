"""Recordings of real groups under churn: ``python -m studies.recording --out DIR``.

Imports nothing: each consumer is a process of this package and should start quickly.
"""
