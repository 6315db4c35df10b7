# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Repair the CMake files of the ROS wheels in the virtual environment that runs this.

The wheels' exported targets name the include folders of the machine that built them. They are
rewritten to this environment's; a second run changes nothing. Run after each installation.
"""

import re
import sys
import sysconfig
from pathlib import Path

import numpy as np

REPAIRS = (
    (re.compile(r'[^";\s]+/numpy/_?core/include'), np.get_include()),
    (re.compile(r'[^";\s]+/include/python3\.\d+'), sysconfig.get_config_var("INCLUDEPY")),
)

repaired = 0
for path in Path(sys.prefix, "share").glob("*/cmake/*__rosidl_generator_pyExport.cmake"):
    text = before = path.read_text()
    for pattern, folder in REPAIRS:
        text = pattern.sub(lambda _, folder=folder: folder, text)
    if text != before:
        path.unlink()  # it may be a hard link to the cache of uv, and so to other environments
        path.write_text(text)
        repaired += 1
print(f"repaired {repaired} CMake files")
