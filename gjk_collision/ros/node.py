# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The collision server: a lifecycle node that converts, asks and replies.

Services and heartbeat exist from construction to the end of the process, so that whoever asks is
answered: UNKNOWN / NOT_ACTIVE while the node is not active.
"""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import rclpy
from geometry_msgs.msg import PolygonStamped, PoseStamped
from gjk_collision.msg import CollisionState
from gjk_collision.srv import CheckPoses, CheckShapes, Collide, Distance
from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from std_srvs.srv import Trigger

from .. import queries
from ..answers import StateAnswer, unknown
from ..config import Config, SourceConfig
from ..errors import InputError
from ..frames import FrameError, Pose, SameFrameOnly, Transforms
from ..pairs import check_shapes
from ..snapshot import Fault, Snapshot, nothing
from ..verdict import Status
from ..world import World
from . import messages, sources
from .parameters import Parameters
from .transforms import TransformTree, find_transforms

__all__ = ["CollisionServer", "main"]

# rclpy's default depth of 10 loses requests without a word.
SERVICE_QOS = QoSProfile(depth=64)

# After this long without one callback that ended well, the process is broken, not its callers.
BROKEN_AFTER = 5.0  # s

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class CollisionServer(LifecycleNode):
    """Answers whether a vehicle, placed there, is clear of everything known."""

    def __init__(self, **options: Any) -> None:
        super().__init__("collision_server", **options)
        self._config = Config()
        self._world: World | None = None  # while active
        self._transforms: Transforms = SameFrameOnly("the node is not configured")
        self._inputs: list[Subscription] = []
        self._reason = "not configured"
        self._counter = 0
        self._heartbeat: Timer | None = None
        self._settings = Parameters(self, self._may_change, self._change)
        self._state_publisher = self.create_publisher(
            CollisionState, "~/state", QoSProfile(depth=1)
        )
        self._serve(Collide, "~/collide", self._collide)
        self._serve(Distance, "~/distance", self._distance)
        self._serve(CheckPoses, "~/check_poses", self._check_poses)
        self._serve(CheckShapes, "~/check_shapes", self._check_shapes)
        self.create_service(Trigger, "~/reset", self._reset, qos_profile=SERVICE_QOS)
        self._start_heartbeat()

    def start(self) -> None:
        """Configure and activate, where the parameter `autostart` says so."""
        autostart = self.get_parameter("autostart").value
        if autostart is not False and self.trigger_configure() == SUCCESS:
            self.trigger_activate()

    # ---- lifecycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the parameters and subscribe; refused, with the reason, where one is bad."""
        try:
            config = self._settings.configure()
            World(config)  # the configured footprint is tried here, not at activation
            adapters = [(each, sources.adapter(each)) for each in config.sources]
        except InputError as error:
            self._settings.release()
            self._reason = f"configure failed: {error}"
            self.get_logger().error(self._reason)
            return FAILURE
        self._config = config
        self._transforms = find_transforms(self)
        for source, adapter in adapters:
            self._inputs.append(self._subscribe(source, adapter))
        if not config.footprint and not config.robot_radius:
            self._inputs.append(
                self.create_subscription(
                    PolygonStamped, "footprint", self._receive_footprint, QoSProfile(depth=1)
                )
            )
        self._start_heartbeat()
        self._reason = "inactive"
        self.get_logger().info(f"configured, config hash {config.hash:#010x}")
        return SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begin with nothing known."""
        self._world = World(self._config, self._transforms)
        return SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget all data."""
        self._world = None
        return SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let go of the inputs; the parameters may be set freely again."""
        self._world = None
        for each in self._inputs:
            self.destroy_subscription(each)
        self._inputs = []
        if isinstance(self._transforms, TransformTree):
            self._transforms.close()
        self._transforms = SameFrameOnly("the node is not configured")
        self._settings.release()
        self._reason = "not configured"
        return SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let go of everything but the services and the heartbeat, which say so."""
        self.on_cleanup(state)
        self._reason = "shut down"
        return SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begin again unconfigured."""
        return self.on_cleanup(state)

    # ---- parameters

    def _may_change(self, config: Config) -> str:
        return self._config.refusal(config, active=self._world is not None)

    def _change(self, config: Config) -> None:
        before, after = self._config.parameters(), config.parameters()
        names = [f"{name} = {after[name]}" for name in after if after[name] != before.get(name)]
        self._config = config
        if self._world is not None:
            self._world.reconfigure(config)
        self._start_heartbeat()
        self.get_logger().info(f"{', '.join(names)}; config hash {config.hash:#010x}")

    # ---- inputs

    def _subscribe(self, source: SourceConfig, adapter: sources.Adapter) -> Subscription:
        def receive(message: Any) -> None:
            if self._world is None:
                return
            now, steady = self._times()
            try:
                obstacles = adapter.convert(message)
            except Exception as error:
                self.get_logger().error(
                    f"{source.name}: message not understood: {error!r}", throttle_duration_sec=1.0
                )
                fault = Fault(Status.INTERNAL_ERROR, f"message not understood: {error!r}")
                self._world.receive_fault(source.name, fault, now=now, steady=steady)
                return
            self._world.receive_obstacles(source.name, obstacles, now=now, steady=steady)

        return self.create_subscription(
            adapter.message,
            source.topic,
            receive,
            sources.qos(source),
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )

    def _receive_footprint(self, message: PolygonStamped) -> None:
        if self._world is not None:
            header = message.header
            data = messages.footprint(header.frame_id, header.stamp, message.polygon)
            now, steady = self._times()
            self._world.receive_footprint(data, now=now, steady=steady)

    def _times(self) -> tuple[int, int]:
        return self.get_clock().now().nanoseconds, time.monotonic_ns()

    def _snapshot(self, require_id: int = 0) -> Snapshot:
        now, steady = self._times()
        if self._world is None:
            return nothing(self._config, Fault(Status.NOT_ACTIVE, self._reason), now)
        if now == 0:
            # With use_sim_time, until /clock is heard: data stamped 0 would look fresh.
            return nothing(self._config, Fault(Status.CLOCK_JUMP, "there is no time yet"), now)
        return self._world.snapshot(now=now, steady=steady, require_id=require_id)

    # ---- services

    def _serve(self, kind: Any, name: str, ask: Callable[..., None]) -> None:
        """Offer a service that always replies: what `ask` cannot answer is UNKNOWN."""

        def reply_to(request: Any, reply: Any) -> Any:
            begin = time.perf_counter_ns()
            snapshot = None
            try:
                snapshot = self._snapshot(getattr(request, "require_snapshot_id", 0))
                ask(request, reply, snapshot, _Budget(begin, snapshot.config.time_budget))
            except (InputError, FrameError) as error:
                reply = kind.Response()
                messages.fill_answer(reply, unknown(Fault(error.status, str(error))))
            except Exception as error:
                self.get_logger().error(f"{name}: {error!r}", throttle_duration_sec=1.0)
                reply = kind.Response()
                messages.fill_answer(reply, unknown(Fault(Status.INTERNAL_ERROR, repr(error))))
            seconds = (time.perf_counter_ns() - begin) * 1e-9
            if hasattr(reply, "info"):
                if snapshot is not None:
                    messages.fill_info(reply.info, snapshot)
                reply.info.compute_time = seconds
            else:
                reply.compute_time = seconds
            return reply

        self.create_service(kind, name, reply_to, qos_profile=SERVICE_QOS)

    def _collide(self, request: Any, reply: Any, snapshot: Snapshot, budget: "_Budget") -> None:
        found = queries.collide(snapshot, self._placed(request.pose, snapshot), request.margin)
        messages.fill_answer(reply, found)
        reply.obstacle_id, reply.obstacle_source = found.nearest_id, found.nearest_source

    def _distance(self, request: Any, reply: Any, snapshot: Snapshot, budget: "_Budget") -> None:
        pose = self._placed(request.pose, snapshot)
        found = queries.distance(snapshot, pose, request.k, request.max_distance)
        messages.fill_distance(reply, found)

    def _check_poses(
        self, request: Any, reply: Any, snapshot: Snapshot, budget: "_Budget"
    ) -> None:
        poses, times = messages.floats(request.poses), messages.floats(request.times)
        found = queries.check_poses(
            snapshot,
            poses,
            times,
            frame=lambda: self._frame(request.header, snapshot),
            margin=request.margin,
            mode=request.mode,
            stop_at_first=request.stop_at_first,
            is_late=budget.is_spent,
        )
        messages.fill_poses(reply, found)

    def _check_shapes(
        self, request: Any, reply: Any, snapshot: Snapshot, budget: "_Budget"
    ) -> None:
        found = check_shapes(
            snapshot.config,
            messages.obstacles(request.a),
            messages.obstacles(request.b),
            messages.integers(request.pairs),
            mode=request.mode,
            margin=request.margin,
            is_late=budget.is_spent,
        )
        messages.fill_shapes(reply, found)

    def _reset(self, request: Trigger.Request, reply: Trigger.Response) -> Trigger.Response:
        if self._world is None:
            reply.message = f"there is no data: {self._reason}"
            return reply
        self._world.reset()
        self.get_logger().info("reset: all data forgotten")
        reply.success, reply.message = (
            True,
            "all data forgotten; UNKNOWN until fresh data has come",
        )
        return reply

    def _placed(self, message: PoseStamped, snapshot: Snapshot) -> Pose:
        """Return a request's pose in the check frame; without a frame, the vehicle's own."""
        if not message.header.frame_id:
            return queries.ego_pose(snapshot.config, self._transforms, snapshot.stamp)
        pose = messages.pose(message.pose, "pose")
        return self._frame(message.header, snapshot).of(pose)

    def _frame(self, header: Any, snapshot: Snapshot) -> Pose:
        stamp = messages.nanoseconds(header.stamp)
        return queries.frame_pose(
            snapshot.config, self._transforms, header.frame_id, stamp, snapshot.stamp
        )

    # ---- heartbeat

    def _start_heartbeat(self) -> None:
        """Beat at `state_rate`, by the steady clock: a stopped ROS clock does not stop it."""
        if self._heartbeat is not None:
            self.destroy_timer(self._heartbeat)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._heartbeat = self.create_timer(
            1.0 / self._config.state_rate, self._beat, clock=steady
        )

    def _beat(self) -> None:
        begin = time.perf_counter_ns()
        message = CollisionState()
        self._counter += 1
        try:
            snapshot = self._snapshot()
            messages.fill_state(message, queries.state(snapshot, self._ego(snapshot)))
            messages.fill_info(message.info, snapshot)
        except Exception as error:
            self.get_logger().error(f"~/state: {error!r}", throttle_duration_sec=1.0)
            message = CollisionState()
            fault = Fault(Status.INTERNAL_ERROR, repr(error))
            messages.fill_state(message, StateAnswer(unknown(fault)))
        message.counter = self._counter
        message.header.stamp = self.get_clock().now().to_msg()
        message.header.frame_id = self._config.check_frame
        message.info.compute_time = (time.perf_counter_ns() - begin) * 1e-9
        self._state_publisher.publish(message)

    def _ego(self, snapshot: Snapshot) -> Pose | Fault:
        try:
            return queries.ego_pose(snapshot.config, self._transforms, snapshot.stamp)
        except FrameError as error:
            return Fault(error.status, str(error))


class _Budget:
    """The time that a request may take."""

    def __init__(self, begin: int, seconds: float) -> None:
        self._end = begin + round(seconds * 1e9)

    def is_spent(self) -> bool:
        return time.perf_counter_ns() > self._end


def spin(node: CollisionServer) -> None:
    """Serve until the context is shut down. A callback that raises costs its caller the reply."""
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    last_good = time.monotonic()
    while node.context.ok():
        with suppress(KeyboardInterrupt, ExternalShutdownException):
            error = _spin_once(executor)
            if error is None:
                last_good = time.monotonic()
            elif node.context.ok():
                if time.monotonic() - last_good > BROKEN_AFTER:
                    raise error
                text = f"a callback failed: {error!r}"
                node.get_logger().error(text, throttle_duration_sec=1.0)
                time.sleep(0.001)  # so that a broken wait does not take the whole processor


def _spin_once(executor: SingleThreadedExecutor) -> Exception | None:
    try:
        executor.spin_once()
    except ExternalShutdownException:
        raise
    except Exception as error:
        return error
    return None


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; return the exit code."""
    try:
        rclpy.init(args=None if args is None else list(args))
        node = CollisionServer()
        node.start()
        spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
