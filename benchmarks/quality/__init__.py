"""The quality study: how good the answers of every assignor are, on the same instances.

``python -m benchmarks.quality`` draws the instances and their optima, lets every
assignor answer, judges the answers, and writes records, tables, and figures.
`docs/quality/protocol.md` is the protocol.
"""
