"""Problems of which a smooth part can be told from an l1 part: rho |x|_1 + f(x)."""

from __future__ import annotations

from typing import Any

from .penalties import Penalty


class SmoothPart:
    """What OWL-QN takes: `smooth()` is f, with the l2 part of the penalty and without its l1 part."""

    penalty: Penalty

    def smooth(self) -> Any:
        """f, see objective/smooth.py."""
        raise NotImplementedError
