"""What is heard of a student's process: well-formed messages about the cell that runs, and little else."""

from __future__ import annotations

from typing import Any, Final

from jupyter_client.session import Session

DEEPEST: Final = 100
"""Lists within lists in an output: far more than an answer has, far fewer than Python can follow."""


def parsed(session: Session, frames: list[bytes], current: str) -> dict[str, Any] | None:
    """A message about the cell `current`, of the form that it must have; None for any other."""
    try:
        _, parts = session.feed_identities(frames)
        message = session.deserialize(parts)
    except Exception:  # whatever is wrong with it, the student's process made it
        return None
    about: Any = message.get("parent_header")
    content = message.get("content")
    fits = isinstance(about, dict) and isinstance(content, dict) and isinstance(message["msg_type"], str)
    return message if fits and about.get("msg_id") == current else None


def kept(kind: str, content: dict[str, Any]) -> dict[str, Any] | None:
    """The part of an output that a verdict may use; printed text is none."""
    if kind in {"display_data", "execute_result"} and isinstance(content.get("data"), dict):
        if deeper(content["data"], DEEPEST):
            return None
        return {"data": content["data"], "metadata": {}, "execution_count": 1}
    if kind == "error":
        return {
            "ename": str(content.get("ename"))[:100],
            "evalue": str(content.get("evalue"))[:500],
            "traceback": [],
        }
    return None


def deeper(data: dict[str, Any] | list[Any], most: int) -> bool:
    """Whether JSON is nested more than `most` levels deep, found without recursion.

    >>> deeper([[1], {"a": [2]}], 3), deeper([[1], {"a": [2]}], 2)
    (False, True)
    """
    level = [data]
    for _ in range(most):
        inside = (item.values() if isinstance(item, dict) else item for item in level)
        level = [part for items in inside for part in items if isinstance(part, dict | list)]
        if not level:
            return False
    return True
