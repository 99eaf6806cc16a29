"""``python -m oracle`` is ``assignor-oracle``."""

from oracle.cli import main

main()
