"""scipy.special, loaded at first use: `import dpcourse` should take hardly longer than `import numpy`."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    import scipy.special

    function = getattr(scipy.special, name)
    globals()[name] = function  # the next look-up finds it here
    return function
