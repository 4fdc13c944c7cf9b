"""Records in, tables and the report page out; nothing here knows an estimator."""

from ._page import render_page, write_page
from ._table import render_table

__all__ = ["render_page", "render_table", "write_page"]
