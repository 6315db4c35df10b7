# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The README's Python example prints what its comments say."""

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_example_prints_what_it_says() -> None:
    """A newcomer's first lines must work as shown."""
    block = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert block is not None
    example = block.group(1)
    expected = [
        re.split(r": touching", comment)[0]
        for comment in re.findall(r"^print\(.*\)\s+# (.*)$", example, re.MULTILINE)
    ]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(example, {})
    assert printed.getvalue().splitlines() == expected
    assert len(expected) == 4
