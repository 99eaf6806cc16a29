"""The HTML page: one file with the results of an audit, readable offline."""

from oracle.report.page import page_of, write_page

__all__ = ["page_of", "write_page"]
