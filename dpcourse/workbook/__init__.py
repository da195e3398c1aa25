"""The workbook: the notebook format, checks, release, and a student's own copy of the course."""

from dpcourse.workbook import expect
from dpcourse.workbook.checking import NotYet, check

__all__ = ["NotYet", "check", "expect"]
