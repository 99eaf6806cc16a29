"""``python -m oracle``, the same as ``assignor-oracle``."""

from oracle.cli import main

main()
