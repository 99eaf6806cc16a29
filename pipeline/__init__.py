"""Audits: histories read, reconstructed, judged on Spark and written as tables."""
