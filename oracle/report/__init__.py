"""The page: one HTML file that tells what an audit found, and works offline."""

from oracle.report.page import page_of, write_page

__all__ = ["page_of", "write_page"]
