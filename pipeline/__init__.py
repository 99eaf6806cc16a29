"""The audit of histories: read, reconstruct, judge on Spark, write tables."""
