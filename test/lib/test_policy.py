# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The security policy keeps apart who asks, who changes and who tells."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "config/security/policy.xml"
POLICY = ET.parse(FILE).getroot()
OWN = {path.stem for path in (ROOT / "srv").glob("*.srv")}


def allowed(enclave: str, what: str, way: str) -> set[str]:
    """Names that an enclave may use so."""
    lists = POLICY.findall(f".//enclave[@path='{enclave}']//{what}s[@{way}='ALLOW']")
    assert lists or (what, way) in {("service", "request"), ("service", "reply")}
    return {each.text or "" for group in lists for each in group}


def test_between_enclaves_there_is_nothing_else() -> None:
    """Sros2 takes every child of enclaves for one, comments too, and fails."""
    builder = ET.TreeBuilder(insert_comments=True)
    root = ET.parse(FILE, ET.XMLParser(target=builder)).getroot()
    assert root.attrib == {"version": "0.2.0"}
    (enclaves,) = root
    paths = [each.get("path") for each in enclaves]
    assert paths == ["/collision_server", "/planner", "/supervisor", "/perception"]


def test_planners_ask_and_change_nothing() -> None:
    asked = allowed("/planner", "service", "request")
    changed = allowed("/supervisor", "service", "request")
    assert not asked & changed
    assert {"set_parameters", "change_state", "reset"} <= {n.split("/")[1] for n in changed}
    camel = {"".join(part.title() for part in name.split("/")[1].split("_")) for name in asked}
    assert camel == OWN
    assert not allowed("/planner", "topic", "publish") & {"obstacles", "footprint", "tf"}


def test_the_server_serves_what_the_others_ask() -> None:
    served = allowed("/collision_server", "service", "reply")
    asked = allowed("/planner", "service", "request") | allowed(
        "/supervisor", "service", "request"
    )
    assert asked <= served
    assert not allowed("/collision_server", "service", "request")
    told = allowed("/perception", "topic", "publish")
    assert {"obstacles", "footprint", "tf", "tf_static"} <= told
    assert {"obstacles", "footprint", "tf", "tf_static"} <= allowed(
        "/collision_server", "topic", "subscribe"
    )
