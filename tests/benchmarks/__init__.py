"""Tests of the benchmarks' harness, without timing."""
