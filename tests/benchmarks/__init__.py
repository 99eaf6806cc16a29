"""The harness of the benchmarks; nothing here is timed."""
