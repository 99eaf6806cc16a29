"""The HTML page: one file with the results of an audit, readable offline."""

from oracle.report.facts import advice_of_group
from oracle.report.page import page_of, prepare_page, write_page
from oracle.report.rebalance_page import write_rebalance_page

__all__ = [
    "advice_of_group",
    "page_of",
    "prepare_page",
    "write_page",
    "write_rebalance_page",
]
