# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The one error that bad input raises: it names the argument, the index and the rule."""

from __future__ import annotations

from .verdict import Status

__all__ = ["InputError"]


class InputError(ValueError):
    """Bad input, refused as it is; nothing is repaired on the quiet.

    Attributes
    ----------
    status : Status
        The reason as the ROS interface reports it.
    argument : str
        Name of the argument or message field.
    index : int or None
        Index of the offending element in that argument, where there is one.
    rule : str
        The rule that it breaks.
    """

    def __init__(self, status: Status, argument: str, index: int | None, rule: str) -> None:
        self.status = Status(status)
        self.argument = argument
        self.index = index
        self.rule = rule
        where = argument if index is None else f"{argument}[{index}]"
        super().__init__(f"{where}: {rule}")

    def __reduce__(self) -> tuple[type[InputError], tuple[Status, str, int | None, str]]:
        return type(self), (self.status, self.argument, self.index, self.rule)
