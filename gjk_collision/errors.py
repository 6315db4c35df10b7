# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The error for invalid input, with the argument, the index and the rule."""

from __future__ import annotations

from typing import NoReturn

from .verdict import Status

__all__ = ["InputError", "refuse"]

_LONGEST = 400  # characters of a rule


class InputError(ValueError):
    """Invalid input. It is refused and never repaired.

    Attributes
    ----------
    status : Status
        The reason, as in a reply of the ROS interface.
    argument : str
        Name of the argument or of the message field.
    index : int or None
        Index of the invalid element in the argument; None: the whole argument is invalid. In an
        array with several axes, elements are counted in the order of ``ravel()``.
    rule : str
        What is allowed, and what was given. In a rule of more than 400 characters, the middle is
        replaced by "...".
    """

    def __init__(self, status: Status, argument: str, index: int | None, rule: str) -> None:
        self.status = Status(status)
        self.argument = argument
        self.index = index
        if len(rule) > _LONGEST:
            rule = f"{rule[: _LONGEST // 2 - 3]}...{rule[-_LONGEST // 2 :]}"
        self.rule = rule
        where = argument if index is None else f"{argument}[{index}]"
        super().__init__(f"{where}: {rule}")

    def __reduce__(self) -> tuple[type[InputError], tuple[Status, str, int | None, str]]:
        return type(self), (self.status, self.argument, self.index, self.rule)


def refuse(
    name: str,
    rule: str,
    got: object = ...,
    index: int | None = None,
    status: Status = Status.INVALID_INPUT,
) -> NoReturn:
    """Raise InputError for the argument `name`. The message shows `got`, if it is given."""
    raise InputError(status, name, index, rule if got is ... else f"{rule} (got {got})")
