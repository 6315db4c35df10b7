# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The security policy has what each role needs, and nothing else."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

import rclpy
from ament_index_python import get_package_share_directory
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PolygonStamped
from gjk_collision.msg import CollisionState, ObstacleArray
from lifecycle_msgs import srv as lifecycle
from lifecycle_msgs.msg import TransitionEvent
from rcl_interfaces import srv as parameters
from rclpy.parameter import Parameter
from server import Bench, Server
from std_srvs.srv import Trigger

from gjk_collision import srv as questions
from gjk_collision.ros.mirror import CollisionMirror

POLICY = Path(get_package_share_directory("gjk_collision"), "config/security/policy.xml")
SERVER = "/collision_server/"


def services(package: Any, *names: str) -> dict[str, Any]:
    """Return the types of services, which have their names."""
    return {name: getattr(package, name.title().replace("_", "")) for name in names}


LIFECYCLE = {
    "get_transition_graph": lifecycle.GetAvailableTransitions,
    **services(lifecycle, "change_state", "get_state", "get_available_states"),
    **services(lifecycle, "get_available_transitions"),
}
PARAMETERS = {
    **services(parameters, "describe_parameters", "get_parameter_types", "get_parameters"),
    **services(parameters, "list_parameters", "set_parameters", "set_parameters_atomically"),
}
LOGGING = services(parameters, "get_logger_levels", "set_logger_levels")
QUESTIONS = {
    **services(questions, "collide", "distance", "check_poses", "check_path"),
    **services(questions, "nearest_free", "check_shapes", "get_snapshot"),
}
ROLES = ("collision_server", "planner", "supervisor", "perception")
# A node in C++ with use_sim_time subscribes to it; one in Python does not.
OF_CPP_NODES = {("topic", "subscribe", "/parameter_events")}
OF_TF2 = {("topic", "subscribe", "/tf"), ("topic", "subscribe", "/tf_static")}

# (topic or service, way, name), for each enclave
Permissions = dict[str, set[tuple[str, str, str]]]


def permissions(file: Path, key: Callable[[ET.Element, ET.Element], str]) -> Permissions:
    """What a policy allows, by a key of its enclaves and profiles."""
    found: Permissions = defaultdict(set)
    for enclave in ET.parse(file).getroot().iter("enclave"):
        for profile in enclave.iter("profile"):
            node = f"/{profile.get('node')}"
            for kind in ("topic", "service"):
                for group in profile.findall(f"{kind}s"):
                    [(way, rule)] = group.attrib.items()
                    assert rule == "ALLOW"
                    for each in group:
                        name = (each.text or "").replace("~", node)
                        name = name if name.startswith("/") else f"/{name}"
                        found[key(enclave, profile)].add((kind, way, name))
    return found


@pytest.fixture
def graph(start: Callable[..., tuple[Server, Bench]]) -> Iterator[Bench]:
    """The server, and a node for each other role that uses all that the role is for."""
    _, bench = start("collision_server", footprint=[], use_sim_time=True, record_requests=True)
    context = rclpy.Context()
    rclpy.init(context=context)
    time = [Parameter("use_sim_time", value=True)]
    nodes = [
        rclpy.create_node(name, context=context, parameter_overrides=time) for name in ROLES[1:]
    ]
    planner, supervisor, perception = nodes

    def subscribe(node: Any, kind: Any, name: str) -> None:
        node.create_subscription(kind, name, lambda _: None, 1)

    mirror = CollisionMirror(planner, "odom")  # subscribes to ~/state and ~/snapshot
    for name, kind in QUESTIONS.items():
        planner.create_client(kind, f"{SERVER}{name}")
    subscribe(supervisor, CollisionState, f"{SERVER}state")
    subscribe(supervisor, TransitionEvent, f"{SERVER}transition_event")
    subscribe(supervisor, DiagnosticArray, "/diagnostics")
    for name, kind in {**LIFECYCLE, **PARAMETERS, **LOGGING, "reset": Trigger}.items():
        supervisor.create_client(kind, f"{SERVER}{name}")
    perception.create_publisher(ObstacleArray, "obstacles", 1)
    perception.create_publisher(PolygonStamped, "footprint", 1)
    if find_spec("tf2_ros"):
        from tf2_ros import StaticTransformBroadcaster, TransformBroadcaster

        TransformBroadcaster(perception)
        StaticTransformBroadcaster(perception)
    bench.until(lambda: bench.states, "heartbeat")
    yield bench
    mirror.close()
    for node in nodes:
        node.destroy_node()
    rclpy.shutdown(context=context)


def enclave_of(node: str) -> str:
    """Nodes in the process of another: a listener to transforms, and a planner's mirror."""
    return node.removesuffix("_tf").removesuffix("_mirror")


def differences(found: Permissions) -> list[str]:
    """What the roles have and the policy does not allow, and what it allows and they do not."""
    allowed = permissions(POLICY, lambda enclave, _: str(enclave.get("path")).lstrip("/"))
    assert set(allowed) == set(ROLES)
    texts = []
    for role in ROLES:
        missing, idle = found[role] - allowed[role], allowed[role] - found[role]
        idle -= OF_CPP_NODES
        if not find_spec("tf2_ros"):
            idle -= OF_TF2 | {(kind, "publish", name) for kind, _, name in OF_TF2}
            idle -= {each for each in idle if each[2].startswith("/collision_server_tf/")}
        texts += [f"{role}: not allowed: {each}" for each in sorted(missing)]
        texts += [f"{role}: allowed, not used: {each}" for each in sorted(idle)]
    return texts


def test_policy_is_what_the_graph_shows(graph: Bench) -> None:
    ways = {
        ("topic", "subscribe"): graph.node.get_subscriber_names_and_types_by_node,
        ("topic", "publish"): graph.node.get_publisher_names_and_types_by_node,
        ("service", "reply"): graph.node.get_service_names_and_types_by_node,
        ("service", "request"): graph.node.get_client_names_and_types_by_node,
    }

    def look() -> Permissions:
        found: Permissions = defaultdict(set)
        for node, namespace in graph.node.get_node_names_and_namespaces():
            if namespace != "/":  # of another test of this process, until it is collected
                continue
            for (kind, way), of in ways.items():
                try:
                    names = of(node, namespace)
                except Exception:  # not discovered yet
                    continue
                found[enclave_of(node)] |= {(kind, way, name) for name, _ in names}
        return found

    said: list[str] = []

    def agrees() -> bool:
        said[:] = differences(look())
        return not said

    try:
        graph.until(agrees, "")  # longer than the middleware remembers a process that has ended
    except AssertionError:
        raise AssertionError("\n".join(said)) from None
