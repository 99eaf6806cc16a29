"""Studies of real clients and brokers, whose results the repository stores.

Not part of the installed package.
"""
