"""Reports about a terrain: pages that need nothing but a browser."""

from slopewash.reports.page import write_report

__all__ = ["write_report"]
