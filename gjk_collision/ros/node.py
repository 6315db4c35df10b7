# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The collision server as a lifecycle node: it receives data, answers requests and publishes.

The services and the heartbeat exist from construction to the end of the process. While the node is
not active, every answer is UNKNOWN / NOT_ACTIVE.
"""

import secrets
import signal
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import rclpy
from geometry_msgs.msg import PolygonStamped
from gjk_collision.msg import CollisionState
from lifecycle_msgs.srv import ChangeState
from rclpy.clock import JumpThreshold
from rclpy.duration import Duration
from rclpy.event_handler import EventHandler
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.serialization import deserialize_message
from rclpy.subscription import Subscription
from rclpy.timer import Timer
from rclpy.utilities import remove_ros_args
from std_srvs.srv import Trigger
from visualization_msgs.msg import MarkerArray

from ..arguments import as_bool
from ..errors import InputError
from ..server.adapters import footprint, twist
from ..server.adapters.updates import updates_topic
from ..server.data.faults import Fault
from ..server.data.obstacles import Obstacles
from ..server.data.world import World
from ..server.frames.poses import Pose
from ..server.parameters.config import Config, SourceConfig
from ..server.parameters.files import NODE_NAME
from ..server.parameters.names import OF_EVERY_NODE
from ..server.pauses import PERIOD, sending_time, steady_time
from ..server.server import MAX_FIRST_EPOCH, UNREADABLE, Heartbeat, Server
from ..server.services.answers import refused
from ..verdict import Status
from . import markers, messages, sources
from .bond import ManagerBond
from .deadline import end_process_after
from .diagnostics import Diagnostics, Health
from .parameters import Parameters
from .progress import Progress
from .quality import SERVICE_QOS
from .received_transforms import ReceivedTransforms, find_transforms
from .services import Services
from .snapshots import SnapshotPublisher
from .spinning import spin_once
from .throttled_log import ThrottledLog
from .timers import steady_timer

__all__ = ["CollisionServer", "main"]

# Minimum time between two messages with markers. Making them delays requests.
MARKER_PERIOD = 0.2  # s
# A collision that a request found is shown for this time.
HIT_SHOWN = 2.0  # s

# If every callback fails for this time, the process itself has a fault, and it is ended.
BROKEN_AFTER = 5.0  # s

# Incompatible publishers and subscribers are logged this long after their discovery at the latest.
EVENT_PERIOD = 1.0  # s

# Length of the queue of heartbeats, of which half are the node's own.
HEARTBEATS = 10

# The process ends this long after a signal at the latest [s].
STOP_LIMIT = 5.0

SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class CollisionServer(LifecycleNode):
    """Lifecycle node that answers whether a vehicle at a pose is clear of all obstacles.

    Parameters
    ----------
    arguments : sequence of str, optional
        The command line that was passed to `rclpy.init`, with the names of the parameter files.
        Default: `sys.argv`.
    **options
        Arguments of `LifecycleNode`.

    Raises
    ------
    InputError
        A parameter that every node has, for example ``use_sim_time``, is not true or false.

    Attributes
    ----------
    server : Server
        What decides, without ROS.
    health : Health
        Counters of replies and heartbeats.
    last_state : CollisionState
        The last heartbeat.
    throttled_log : ThrottledLog
        Log lines that a request or a message can cause.
    """

    def __init__(self, *, arguments: Sequence[str] | None = None, **options: Any) -> None:
        try:
            super().__init__(NODE_NAME, **{"enable_logger_service": True, **options})
        except InvalidParameterTypeException:
            for name in OF_EVERY_NODE:
                given = self._parameter_overrides.get(name)
                if given is not None:
                    as_bool(given.value, name)
            raise
        line = sys.argv if arguments is None else arguments
        # rclpy reads both lists, as two separate command lines.
        line = [*line, "--", *(options.get("cli_args") or ())]
        self.server = Server(self, 1 + secrets.randbelow(MAX_FIRST_EPOCH))
        self.health = Health()
        self.throttled_log = ThrottledLog(self)
        self.last_state = CollisionState()
        none = refused("CollisionState", Fault(Status.NOT_ACTIVE, "no heartbeat yet"))
        messages.fill(self.last_state, none.fields())
        self._inputs: list[Subscription] = []
        self._latched: dict[str, Subscription] = {}  # of sources with transient_local, by name
        self._heartbeat: Timer | None = None
        self._pulse: Timer | None = None  # while configured
        self._settings = Parameters(self, line, self.server.refusal, self._change)
        self._state_publisher = self.create_publisher(
            CollisionState, "~/state", QoSProfile(depth=1)
        )
        # Another server with this name publishes on it, too.
        self.create_subscription(
            CollisionState, "~/state", self._receive_state, QoSProfile(depth=HEARTBEATS), raw=True
        )
        self._marker_publisher = self.create_publisher(
            MarkerArray, "~/markers", QoSProfile(depth=1)
        )
        self._last_markers = 0.0
        self._hit: tuple[Pose, float] | None = None
        # A simulated clock may step back and forth between two times at which the node reads it.
        self._steps = self.get_clock().create_jump_callback(
            JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1)),
            post_callback=lambda step: self.server.note_step_back(-step.delta.nanoseconds),
        )
        self._snapshots = SnapshotPublisher(self, self.server)
        # rclpy has a _services of its own
        self._answering = Services(self, self.server, self.health, lambda hit: self.note_hit(hit))
        self.create_service(Trigger, "~/reset", self._reset, qos_profile=SERVICE_QOS)
        Diagnostics(self, self.server, self.health, lambda: self.last_state)
        self._progress = Progress(self, self.server)
        self._bond = ManagerBond(self)
        self._answer_bad_transitions()
        self._start_heartbeat()

    def close(self) -> None:
        """End the computation of requests. Call it before the context is shut down."""
        self._answering.close()
        self._bond.release()

    def start(self) -> None:
        """Configure and activate the node if the parameter `autostart` is true."""
        if self.get_parameter("autostart").value is False:
            text = "autostart is false: not configured until a transition is requested"
            self.get_logger().info(f"{text}, for example by a lifecycle manager")
        elif self.trigger_configure() == SUCCESS:
            self.trigger_activate()

    # ---- lifecycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the parameters and subscribe. Fail with the reason if a parameter is invalid."""
        try:
            config = self._settings.configure()
            World(config)  # check the configured footprint now, not at activation
            adapters = [(each, sources.adapter(each)) for each in config.sources]
            transforms = find_transforms(self, self.throttled_log, self._note_transforms)
            self.server.transforms = transforms
            for source, adapter in adapters:
                self._subscribe_source(source, adapter)
                if adapter.update is not None:
                    self._subscribe_updates(source, adapter.update)
            if config.unseen_note:
                self.get_logger().info(config.unseen_note)
            if config.twist_topic:
                kind = sources.message_class("twist_type", config.twist_type)
                best_effort = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
                receive = self._receiver("twist_topic", kind, twist)
                self._subscribe(kind, config.twist_topic, receive, best_effort)
            if config.is_footprint_received:
                qos = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
                receive = self._receiver("footprint", PolygonStamped, footprint)
                self._subscribe(PolygonStamped, "footprint", receive, qos)
        except Exception as error:
            why = str(error) if isinstance(error, InputError) else repr(error)
            self._release(f"configure failed: {why}")
            self.get_logger().error(f"configure failed: {why}")
            return FAILURE
        self.server.configure(config, transforms)
        self.server.note_activity()
        self._pulse = steady_timer(self, PERIOD, self.server.note_activity)
        self._answering.record(config.record_requests)
        self._start_heartbeat()
        self._progress.log_transition(f"configured: config hash {config.hash:#010x}")
        return SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start to receive data and to answer requests. Earlier data is not used."""
        self.server.activate(self._topics())
        self._receive_last_again()
        self._make_bond()
        self._progress.log_activation(steady_time())
        return SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Delete all data."""
        self.server.deactivate()
        self._answering.resume()
        self._bond.break_off()
        self._progress.log_transition("deactivated: all data deleted")
        return SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Remove the subscriptions. All parameters can be set again."""
        self._release("not configured")
        self._progress.log_transition("cleaned up: not configured")
        return SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Remove everything except the services and the heartbeat, which report the state."""
        self._release("shut down")
        self._progress.log_transition("shut down")
        return SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Return to the unconfigured state after an error in a transition."""
        self._release("not configured")
        self._progress.log_transition("a transition failed with an error: not configured")
        return SUCCESS

    def _release(self, reason: str) -> None:
        """Delete the data and remove the subscriptions; `reason` is the message of replies."""
        self.server.deactivate()  # first, so that an error below leaves no data
        self._answering.resume()
        self._bond.release()
        for each in self._inputs:
            self.destroy_subscription(each)
        self._inputs = []
        self._latched = {}
        if self._pulse is not None:
            self.destroy_timer(self._pulse)
            self._pulse = None
        if isinstance(self.server.transforms, ReceivedTransforms):
            self.server.transforms.close()
        self.server.release(reason)
        self._answering.record(False)
        self._settings.release()

    def _make_bond(self) -> None:
        try:
            self._bond.make(self.server.config.bond_heartbeat_period)
        except Exception as error:  # the manager notices by itself that there is no bond
            self.server.note_error("the bond with the lifecycle manager", error)

    def _answer_bad_transitions(self) -> None:
        """Send a reply to a request for a transition that is not possible in the present state.

        Without this, rclpy raises an error and sends no reply, so that the client waits forever.
        """
        service = next(each for each in self.services if each.srv_type is ChangeState)
        change_state = service.callback

        def answer(request: Any, reply: Any) -> Any:
            try:
                return change_state(request, reply)
            except Exception as error:
                self.throttled_log.error("transition", f"transition not possible: {error}")
                reply.success = False
                return reply

        service.callback = answer

    # ---- parameters

    def _change(self, config: Config) -> None:
        before, after = self.server.config.parameters(), config.parameters()
        names = [f"{name} = {after[name]}" for name in after if after[name] != before.get(name)]
        is_other_rate = config.state_rate != self.server.config.state_rate
        self.server.reconfigure(config)
        if is_other_rate:
            self._start_heartbeat()
        self.get_logger().info(f"{', '.join(names)}; config hash {config.hash:#010x}")

    # ---- inputs

    def _topics(self) -> dict[str, str]:
        """Return the resolved topic of each source, of "footprint" and of "twist_topic"."""
        topics = {each.name: each.topic for each in self.server.config.sources}
        topics |= {"footprint": "footprint", "twist_topic": self.server.config.twist_topic}
        return {name: self.resolve_topic_name(topic) for name, topic in topics.items() if topic}

    def _subscribe(
        self, kind: Any, topic: str, receive: Callable[[bytes, Any], None], qos: QoSProfile
    ) -> Subscription:
        """Subscribe to a topic until `_release` is called.

        Raises
        ------
        InputError
            The name of the topic or a parameter ``qos_overrides.<topic>.*`` is invalid.
        """
        try:
            # Subscribe to raw messages. Otherwise a message that cannot be decoded would raise an
            # error in the executor, and its source would not get a fault.
            subscription = self.create_subscription(
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
        self._inputs.append(subscription)
        return subscription

    def _subscribe_source(self, source: SourceConfig, adapter: sources.Adapter) -> None:
        receive = self._receiver(source.name, adapter.message, self._converter(source))
        subscription = self._subscribe(adapter.message, source.topic, receive, sources.qos(source))
        if source.qos_durability == "transient_local":
            self._latched[source.name] = subscription

    def _subscribe_updates(self, source: SourceConfig, kind: type[Any]) -> None:
        receive = self._receiver(source.name, kind, self._converter(source))
        self._subscribe(kind, updates_topic(source.topic), receive, sources.UPDATES_QOS)

    def _converter(self, source: SourceConfig) -> Callable[[Any, Config], Obstacles]:
        return lambda message, config: self.server.grids.convert(message, config, source)

    def _receive_last_again(self) -> None:
        """Subscribe again to the topics that keep their last message, to receive it again.

        A message from before the activation was not used, and ~/reset deletes it.
        """
        for source in self.server.config.sources:
            if source.qos_durability == "transient_local":
                if (old := self._latched.pop(source.name, None)) is not None:
                    self._inputs.remove(old)
                    self.destroy_subscription(old)
                self._subscribe_source(source, sources.adapter(source))

    def _receiver(
        self, name: str, kind: Any, convert: Callable[[Any, Config], Any]
    ) -> Callable[[bytes, dict[str, Any]], None]:
        """Return the callback of a source, of "footprint" or of "twist_topic"."""

        def receive(data: bytes, info: dict[str, Any]) -> None:
            error = self.server.receive(
                name,
                lambda: convert(deserialize_message(data, kind), self.server.config),
                self.server.earliest(sending_time(info)),
            )
            if error is not None and not isinstance(error, InputError):
                self.server.note_error(f"{name}: the message cannot be decoded", error)

        return receive

    def _note_transforms(self) -> None:
        """Continue what waits for transforms that have arrived."""
        self._answering.resume()
        self._snapshots.note_change()

    def now(self) -> int:
        """Return the present time [ns], with which stamps are compared."""
        return self.get_clock().now().nanoseconds

    def steady(self) -> int:
        """Return the present steady time [ns]."""
        return steady_time()

    def note_change(self) -> None:
        """Publish the snapshot soon."""
        self._snapshots.note_change()

    def log_error(self, where: str, error: Exception) -> None:
        """Log an internal error. After a signal, nothing can be published: this is none."""
        if self.context.ok():
            self.throttled_log.error(where, f"{where}: {error!r}")

    # ---- used by the services

    def _reset(self, request: Trigger.Request, reply: Trigger.Response) -> Trigger.Response:
        try:
            reply.success, reply.message = self.server.reset()
            if reply.success:
                self._receive_last_again()
                self.throttled_log.info("reset", "reset: all data deleted")
        except Exception as error:
            self.server.note_error("~/reset", error)
            reply.success, reply.message = False, repr(error)
        return reply

    def note_hit(self, pose: Pose) -> None:
        """For the time `HIT_SHOWN`, show that a request found a collision at this pose.

        The pose is in the check frame.
        """
        self._hit = pose, time.monotonic() + HIT_SHOWN

    # ---- heartbeat

    def _receive_state(self, data: bytes) -> None:
        """Receive a heartbeat of this node, or of another server with its name."""
        try:
            epoch = deserialize_message(data, CollisionState).epoch
        except Exception:  # of another version of the package
            epoch = UNREADABLE
        if (fault := self.server.receive_heartbeat(epoch)) is not None:
            name = self.get_fully_qualified_name()
            self.get_logger().error(f"every answer of {name} is UNKNOWN: {fault.message}")

    def _start_heartbeat(self) -> None:
        """Start the timer of the heartbeat, at the present `state_rate`."""
        if self._heartbeat is not None:
            self.destroy_timer(self._heartbeat)
        period = 1.0 / self.server.config.state_rate
        self._heartbeat = steady_timer(self, period, self._beat)

    def _beat(self) -> None:
        sequence = self._snapshots.publish_change()
        message, beat, is_good = self.server.beat(sequence, messages.state)
        self._state_publisher.publish(message)
        self.last_state = message
        self.health.note_beat()
        if is_good:
            self._show(beat)

    def _show(self, beat: Heartbeat) -> None:
        """Publish markers if they have a subscriber."""
        snapshot, ego, found = beat.snapshot, beat.ego, beat.found
        wanted = (
            snapshot.config.publish_markers and self._marker_publisher.get_subscription_count()
        )
        if not wanted or time.monotonic() - self._last_markers < MARKER_PERIOD:
            return
        self._last_markers = time.monotonic()
        try:
            hit, until = self._hit or (None, 0.0)
            shown = hit if time.monotonic() < until else None
            self._marker_publisher.publish(markers.marker_array(snapshot, ego, found, shown))
        except Exception as error:
            self.server.note_error("~/markers", error)


class _Executor(SingleThreadedExecutor):
    """An executor that looks for events of the middleware only once per `EVENT_PERIOD`.

    Such an event, for example an incompatible quality of service, only leads to a line in the log.
    rclpy looks for each of them in each cycle, which takes a third of the time of a cycle.
    """

    # If a signal arrives during the construction, `__del__` reads this attribute, which is not set
    # yet, and prints a traceback.
    _sigint_gc = None
    _looked = -EVENT_PERIOD
    _looks = True

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Process one callback."""
        now = time.monotonic()
        self._looks = now - self._looked >= EVENT_PERIOD
        if self._looks:
            self._looked = now
        super().spin_once(timeout_sec)

    def can_execute(self, entity: Any) -> bool:
        """Return whether a cycle may process an entity."""
        return (self._looks or not isinstance(entity, EventHandler)) and super().can_execute(
            entity
        )


def spin(node: CollisionServer) -> None:
    """Process callbacks until the context is shut down.

    If a callback raises, the error is logged, and its caller gets no reply.
    """
    executor = _Executor(context=node.context)
    executor.add_node(node)
    last_good = time.monotonic()
    while node.context.ok():
        with suppress(ExternalShutdownException):
            error = spin_once(executor)
            if error is None:
                last_good = time.monotonic()
            elif node.context.ok():
                if time.monotonic() - last_good > BROKEN_AFTER:
                    raise error
                node.throttled_log.error("callback", f"a callback failed: {error!r}")
                if node.get_clock().ros_time_is_active:
                    node.server.note_step_back(1)  # rclpy raises for a negative time on /clock
                time.sleep(0.001)  # limit the processor load if every wait fails


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM; return the exit code."""
    # rclpy handles both signals between `init` and `try_shutdown`. Python's own handler of SIGINT
    # would also raise KeyboardInterrupt at an arbitrary point of the code, and SIGTERM would end
    # the process with another exit code before and after.
    stops: list[int] = []
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda number, _: stops.append(number))
    try:
        if unused := remove_ros_args(args)[args is None :]:
            text = "not used; write --ros-args before arguments of ROS"
            raise RuntimeError(f"{' '.join(unused)}: {text}")
        rclpy.init(args=None if args is None else list(args))
    except RuntimeError as error:  # from rcl; the message names the argument
        print(f"collision_server: {error}", file=sys.stderr)
        return 2
    code = 0
    try:
        if not stops:  # no signal arrived before rclpy started to handle both
            _run(args)
    except InputError as error:  # a parameter of rclpy itself, without which there is no node
        print(f"collision_server: {error}", file=sys.stderr)
        code = 2
    except ExternalShutdownException:
        pass
    finally:
        # SIGINT often arrives twice, from the terminal and from launch. The second one must not
        # interrupt the shutdown. It is ignored again below, because `try_shutdown` restores the
        # handler from above.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        end_process_after(STOP_LIMIT)
        rclpy.try_shutdown()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code


def _run(args: Sequence[str] | None) -> None:
    try:
        node = CollisionServer(arguments=args)
        throttled = node.throttled_log
        # Of values that are probably wrong, such as a yaw in degrees. The log limits their number.
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_: throttled.warning("warning", str(message))
        try:
            node.start()
            spin(node)
        finally:
            node.close()
    except Exception:
        if rclpy.ok():
            raise
        # A signal arrived during a transition. With an invalid context, rclpy can raise any error.


if __name__ == "__main__":
    sys.exit(main())
