"""Benchmarks: each module prints times and asserts nothing."""
