# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The collision server: a lifecycle node that converts, asks and replies.

Services and heartbeat exist from construction to the end of the process, so that whoever asks is
answered: UNKNOWN / NOT_ACTIVE while the node is not active.
"""

import secrets
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import rclpy
from geometry_msgs.msg import PolygonStamped
from gjk_collision.msg import CollisionState
from lifecycle_msgs.srv import ChangeState
from rclpy.clock import Clock, ClockType
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from visualization_msgs.msg import MarkerArray

from ..errors import InputError
from ..server import lookup, questions
from ..server.answers import StateAnswer, unknown
from ..server.config import Config, SourceConfig
from ..server.frames import FrameError, Pose, SameFrameOnly, Transforms
from ..server.parameter_files import NODE_NAME
from ..server.snapshot import Fault, Report, Snapshot, nothing
from ..server.world import World
from ..verdict import Status
from . import markers, messages, sources
from .diagnostics import Diagnostics, Health
from .exchange import Exchange
from .parameters import Parameters
from .pauses import PERIOD, Pauses, steady_time
from .progress import Progress
from .services import Services
from .transforms import TransformTree, find_transforms

__all__ = ["CollisionServer", "main"]

# Markers are for people's eyes, and cost a request's time: no more of them than that.
MARKER_PERIOD = 0.2  # s
# How long a collision that a request met is shown.
HIT_SHOWN = 2.0  # s

# Of the ids of snapshots, so that none of an earlier activation is given again; 0: of a replay.
MAX_EPOCH = 2**32 - 1

# After this long without one callback that ended well, the process is broken, not its callers.
BROKEN_AFTER = 5.0  # s

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class CollisionServer(LifecycleNode):
    """Answers whether a vehicle, placed there, is clear of everything known.

    Parameters
    ----------
    arguments : sequence of str, optional
        The list that `rclpy.init` was given, to find the parameter files in; default: `sys.argv`.
    **options
        Of `LifecycleNode`.

    Attributes
    ----------
    config : Config
        Parameters in force.
    transforms : Transforms
        Where frames are.
    health : Health
        Takes note of replies and heartbeats.
    errors : int
        Errors of our own since the start; zero in a node that is well.
    last_state : CollisionState
        The last heartbeat.
    """

    def __init__(self, *, arguments: Sequence[str] | None = None, **options: Any) -> None:
        super().__init__(NODE_NAME, **options)
        line = sys.argv if arguments is None else arguments
        # rclpy reads both, as two lines of arguments.
        line = [*line, "--", *(options.get("cli_args") or ())]
        self.config = Config()
        self.transforms: Transforms = SameFrameOnly("the node is not configured")
        self.health = Health()
        self.errors = 0
        self.last_state = CollisionState()
        none = StateAnswer(unknown(Fault(Status.NOT_ACTIVE, "no heartbeat yet")))
        messages.fill_state(self.last_state, none)
        self._world: World | None = None  # while active
        self._epoch = secrets.randbelow(MAX_EPOCH)  # of the process; counts up with activations
        self._inputs: list[Subscription] = []
        self._reason = "not configured"
        self._counter = 0
        self._heartbeat: Timer | None = None
        self._pauses = Pauses(steady_time())
        self._pulse: Timer | None = None  # while configured
        self._settings = Parameters(self, line, self._may_change, self._change)
        self._state_publisher = self.create_publisher(
            CollisionState, "~/state", QoSProfile(depth=1)
        )
        self._marker_publisher = self.create_publisher(
            MarkerArray, "~/markers", QoSProfile(depth=1)
        )
        self._last_markers = 0.0
        self._hit: tuple[Pose, float] | None = None
        self._answering = Services(self, self)  # rclpy has a _services of its own
        Diagnostics(self, self)
        self._progress = Progress(self, self)
        self._answer_bad_transitions()
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
            self.transforms = find_transforms(self, self._answering.resume)
            for source, adapter in adapters:
                self._subscribe_source(source, adapter)
            if not config.footprint and not config.robot_radius:
                qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
                self._subscribe(PolygonStamped, "footprint", self._receive_footprint, qos)
        except Exception as error:
            why = str(error) if isinstance(error, InputError) else repr(error)
            self._let_go(f"configure failed: {why}")
            self.get_logger().error(self._reason)
            return FAILURE
        self.config = config
        self._pauses = Pauses(steady_time())
        self._pulse = self.create_steady_timer(
            PERIOD, lambda: self._pauses.note_life(steady_time())
        )
        self._answering.record(config.record_requests)
        self._start_heartbeat()
        self._reason = "inactive"
        self._progress.note(f"configured: config hash {config.hash:#010x}")
        return SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begin with nothing known."""
        self._epoch = self._epoch % MAX_EPOCH + 1
        self._world = World(self.config, self.transforms, self._epoch)
        self._progress.note_active(steady_time())
        return SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget all data."""
        self._world = None
        self._progress.note("deactivated: all data forgotten")
        return SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let go of the inputs; the parameters may be set freely again."""
        self._let_go("not configured")
        self._progress.note("cleaned up: not configured")
        return SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Let go of everything but the services and the heartbeat, which say so."""
        self._let_go("shut down")
        self._progress.note("shut down")
        return SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begin again unconfigured."""
        self._let_go("not configured")
        self._progress.note("a transition failed with an error: not configured")
        return SUCCESS

    def _let_go(self, reason: str) -> None:
        self._world = None
        for each in self._inputs:
            self.destroy_subscription(each)
        self._inputs = []
        if self._pulse is not None:
            self.destroy_timer(self._pulse)
            self._pulse = None
        if isinstance(self.transforms, TransformTree):
            self.transforms.close()
        self.transforms = SameFrameOnly("the node is not configured")
        self._answering.record(False)
        self._settings.release()
        self._reason = reason

    def _answer_bad_transitions(self) -> None:
        """Refuse a transition that the present state does not have.

        rclpy raises instead, and the client would wait for a reply that never comes.
        """
        service = next(each for each in self.services if each.srv_type is ChangeState)
        change_state = service.callback

        def answer(request: Any, reply: Any) -> Any:
            try:
                return change_state(request, reply)
            except Exception as error:
                self.get_logger().error(f"transition refused: {error}")
                reply.success = False
                return reply

        service.callback = answer

    # ---- parameters

    def _may_change(self, config: Config) -> str:
        return self.config.refusal(config, active=self._world is not None)

    def _change(self, config: Config) -> None:
        before, after = self.config.parameters(), config.parameters()
        names = [f"{name} = {after[name]}" for name in after if after[name] != before.get(name)]
        self.config = config
        if self._world is not None:
            self._world.reconfigure(config)
        self._start_heartbeat()
        self.get_logger().info(f"{', '.join(names)}; config hash {config.hash:#010x}")

    # ---- inputs

    def _subscribe(
        self, kind: Any, topic: str, receive: Callable[[bytes], None], qos: QoSProfile
    ) -> None:
        """Receive the messages of a topic until the inputs are let go.

        Raises
        ------
        InputError
            The name of the topic is bad, or a parameter ``qos_overrides.<topic>.*``.
        """
        try:
            # Raw: a message that cannot be decoded is a fault of its source, not of the executor.
            found = self.create_subscription(
                kind,
                topic,
                receive,
                qos,
                qos_overriding_options=QoSOverridingOptions.with_default_policies(),
                raw=True,
            )
        except Exception as error:
            rule = f"cannot subscribe: {error!r}"
            raise InputError(Status.INVALID_INPUT, f"topic '{topic}'", None, rule) from error
        self._inputs.append(found)

    def _subscribe_source(self, source: SourceConfig, adapter: sources.Adapter) -> None:
        def receive(data: bytes) -> None:
            if self._world is None:
                return
            now, steady = self._times_of_message()
            try:
                message = deserialize_message(data, adapter.message)
                obstacles = adapter.convert(message, self.config)
            except Exception as error:
                self._receive_fault(source.name, error, now, steady)
                return
            self._world.receive_obstacles(source.name, obstacles, now=now, steady=steady)

        self._subscribe(adapter.message, source.topic, receive, sources.qos(source))

    def _receive_footprint(self, data: bytes) -> None:
        if self._world is None:
            return
        now, steady = self._times_of_message()
        try:
            message = deserialize_message(data, PolygonStamped)
            header, limit = message.header, self.config.max_points_per_obstacle
            footprint = messages.footprint(header.frame_id, header.stamp, message.polygon, limit)
        except Exception as error:
            self._receive_fault("footprint", error, now, steady)
            return
        self._world.receive_footprint(footprint, now=now, steady=steady)

    def _receive_fault(self, source: str, error: Exception, now: int, steady: int) -> None:
        """Take in that a message of a source, or of the footprint, cannot be used, and why."""
        assert self._world is not None
        if isinstance(error, InputError):
            fault = Fault(error.status, str(error))
        else:
            self.note_error(f"{source}: message not understood", error)
            fault = Fault(Status.INTERNAL_ERROR, f"message not understood: {error!r}")
        self._world.receive_fault(source, fault, now=now, steady=steady)

    def now(self) -> int:
        """Return the time that stamps are compared with [ns]."""
        return self.get_clock().now().nanoseconds

    def _times(self) -> tuple[int, int]:
        return self.now(), steady_time()

    def _times_of_message(self) -> tuple[int, int]:
        """Return the times of a message that is taken now: by the steady clock the earliest."""
        return self.now(), self._pauses.earliest(steady_time())

    def snapshot(self, require_id: int = 0) -> Snapshot:
        """Return what is known now, or was in a snapshot asked for by its id."""
        now, steady = self._times()
        if self._world is None:
            return nothing(self.config, Fault(Status.NOT_ACTIVE, self._reason), now)
        if now == 0:
            # With use_sim_time, until /clock is heard: data stamped 0 would look fresh.
            return nothing(self.config, Fault(Status.CLOCK_JUMP, "there is no time yet"), now)
        return self._world.snapshot(now=now, steady=steady, require_id=require_id)

    def later(self, snapshot: Snapshot) -> Snapshot:
        """Return a snapshot as it is now that the answer from it leaves."""
        now, steady = self._times()
        if self._world is None:
            return snapshot
        return self._world.later(snapshot, now=now, steady=steady)

    # ---- what the services and the diagnostics ask of the node

    @property
    def is_active(self) -> bool:
        """Tell whether data is taken in and questions about it are answered."""
        return self._world is not None

    def reports(self) -> list[Report]:
        """Return what is heard from each sender; empty while not active."""
        now, steady = self._times()
        return [] if self._world is None else self._world.reports(now=now, steady=steady)

    def reset(self) -> tuple[bool, str]:
        """Forget all data; return whether there was any to forget, in words too."""
        if self._world is None:
            return False, f"there is no data: {self._reason}"
        self._world.reset()
        self.get_logger().info("reset: all data forgotten")
        return True, "all data forgotten; UNKNOWN until fresh data has come"

    def note_error(self, where: str, error: Exception) -> None:
        """Log an error of our own, and count it."""
        self.errors += 1
        self.get_logger().error(f"{where}: {error!r}", throttle_duration_sec=1.0)

    def note_hit(self, pose: Pose) -> None:
        """Show for a while that a request met an obstacle at a pose in the check frame."""
        self._hit = pose, time.monotonic() + HIT_SHOWN

    # ---- heartbeat

    def _start_heartbeat(self) -> None:
        """Publish the heartbeat at `state_rate` from now on."""
        if self._heartbeat is not None:
            self.destroy_timer(self._heartbeat)
        self._heartbeat = self.create_steady_timer(1.0 / self.config.state_rate, self._beat)

    def create_steady_timer(self, period: float, callback: Callable[[], None]) -> Timer:
        """Create a timer by the steady clock: a stopped ROS clock does not stop it."""
        clock = Clock(clock_type=ClockType.STEADY_TIME)
        return self.create_timer(period, callback, clock=clock)

    def _beat(self) -> None:
        exchange = Exchange(self)
        message = CollisionState()
        self._counter += 1
        snapshot, found = None, None
        try:
            first = exchange.ask()
            ego = self._ego(first, exchange.transforms)
            found = questions.state(first, ego)
            snapshot = exchange.at_the_end(first, found.answer.verdict)
            if snapshot.fault is not first.fault:
                found = questions.state(snapshot, ego)
            messages.fill_state(message, found)
            messages.fill_info(message.info, snapshot)
        except Exception as error:
            self.note_error("~/state", error)
            message = CollisionState()
            fault = Fault(Status.INTERNAL_ERROR, repr(error))
            messages.fill_state(message, StateAnswer(unknown(fault)))
            messages.fill_info(message.info, exchange.known(fault))
        message.counter = self._counter
        message.header.stamp = self.get_clock().now().to_msg()
        message.header.frame_id = self.config.check_frame
        message.info.compute_time = exchange.seconds
        self._state_publisher.publish(message)
        self.last_state = message
        self.health.note_beat()
        if snapshot is not None and found is not None:
            self._show(snapshot, ego, found)

    def _show(self, snapshot: Snapshot, ego: Pose | Fault, found: StateAnswer) -> None:
        """Publish markers while somebody looks."""
        wanted = self.config.publish_markers and self._marker_publisher.get_subscription_count()
        if not wanted or time.monotonic() - self._last_markers < MARKER_PERIOD:
            return
        self._last_markers = time.monotonic()
        try:
            hit, until = self._hit or (None, 0.0)
            shown = hit if time.monotonic() < until else None
            self._marker_publisher.publish(markers.picture(snapshot, ego, found, shown))
        except Exception as error:
            self.note_error("~/markers", error)

    def _ego(self, snapshot: Snapshot, transforms: Transforms) -> Pose | Fault:
        try:
            return lookup.ego_pose(snapshot.config, transforms, snapshot.stamp)
        except FrameError as error:
            return Fault(error.status, str(error))


class _Executor(SingleThreadedExecutor):
    """Ends without a traceback where a signal comes before it is made.

    Its constructor raises then, and `__del__` of rclpy reads an attribute not yet set.
    """

    _sigint_gc = None


def spin(node: CollisionServer) -> None:
    """Serve until the context is shut down. A callback that raises costs its caller the reply."""
    executor = _Executor(context=node.context)
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
        try:
            rclpy.init(args=None if args is None else list(args))
        except RuntimeError as error:  # of rcl, which names the argument
            print(f"collision_server: {error}", file=sys.stderr)
            return 2
        _run(args)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        # Ctrl-C often comes twice: from the terminal and from launch. The second one must not end
        # the interpreter while it ends. Set again, because rclpy puts back Python's own handler.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        rclpy.try_shutdown()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return 0


def _run(args: Sequence[str] | None) -> None:
    try:
        node = CollisionServer(arguments=args)
        node.start()
        spin(node)
    except Exception:
        if rclpy.ok():
            raise
        # A signal in the middle of a transition: rclpy raises whatever finds its context invalid.


if __name__ == "__main__":
    sys.exit(main())
