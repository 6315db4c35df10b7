# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""The client against a server that misbehaves: nothing but a whole FREE reply reads as free."""

import threading
import time
from array import array
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

import rclpy
from gjk_collision.srv import CheckPath, CheckPoses, Collide, Distance, GetSnapshot, NearestFree
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.task import Future
from std_srvs.srv import Trigger

from gjk_collision.errors import InputError
from gjk_collision.ros.client import CollisionClient
from gjk_collision.ros.mirror import CollisionMirror
from gjk_collision.ros.quality import SERVICE_QOS
from gjk_collision.ros.spinning import Waiting
from gjk_collision.server.pauses import steady_time
from gjk_collision.verdict import Status, Verdict

S = 1_000_000_000  # ns
TIMEOUT = 60.0  # s, of replies that come; the tests change it where none does
POSES = np.array([[1.0, 2.0, 0.1], [3.0, 4.0, 0.2], [5.0, 6.0, 0.3]])


class Puppet:
    """A server whose replies a test fills in. They wait while the gate is closed."""

    def __init__(self, context):
        self.node = rclpy.create_node("puppet", context=context)
        self.requests = []
        self.fill = lambda reply: None
        self.gate, self.has_request = threading.Event(), threading.Event()
        for service, name in ((CheckPoses, "check_poses"), (CheckPath, "check_path"),
                              (Distance, "distance"), (Collide, "collide"),
                              (NearestFree, "nearest_free"), (GetSnapshot, "get_snapshot"),
                              (Trigger, "reset")):  # fmt: skip
            self.node.create_service(
                service, f"puppet/{name}", self.answer, qos_profile=SERVICE_QOS
            )

    def answer(self, request, reply):
        fill = self.fill
        self.requests.append(request)
        self.has_request.set()
        assert self.gate.wait(TIMEOUT)
        with suppress(AttributeError):  # a late request of an earlier test, to another service
            fill(reply)
        return reply


@pytest.fixture(scope="module")
def nodes():
    """The puppet, spun in its own thread, and a client."""
    context = rclpy.Context()
    rclpy.init(context=context)
    puppet = Puppet(context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(puppet.node)
    running = threading.Event()
    running.set()

    def spin():
        while running.is_set():
            executor.spin_once(timeout_sec=0.05)

    thread = threading.Thread(target=spin)
    thread.start()
    node = rclpy.create_node("asker", context=context)
    client = CollisionClient(node, "odom", server="puppet", timeout=TIMEOUT, max_outstanding=4)
    try:
        assert client.wait_for_server(TIMEOUT)
        yield puppet, client
    finally:
        running.clear()
        thread.join()
        rclpy.shutdown(context=context)


@pytest.fixture
def puppet(nodes):
    puppet, _ = nodes
    puppet.fill = lambda reply: None
    puppet.gate.set()
    puppet.has_request.clear()
    puppet.requests.clear()
    return puppet


@pytest.fixture
def client(nodes):
    return nodes[1]


def free(reply):
    """Fill a reply in which everything says free."""
    reply.is_free = True
    reply.verdict.verdict = int(Verdict.FREE)
    reply.verdict.status = int(Status.SUCCESS)
    reply.info.snapshot_id = 7
    if isinstance(reply, CheckPoses.Response):
        reply.verdicts = array("B", [Verdict.FREE] * len(POSES))
        reply.statuses = array("H", [Status.SUCCESS] * len(POSES))
        reply.first_invalid_index = -1
    if isinstance(reply, CheckPath.Response):
        reply.first_invalid_segment, reply.last_valid_fraction = -1, 1.0


def ask(client, service):
    if service == "check_poses":
        return client.check_poses(POSES)
    if service == "check_path":
        return client.check_path(POSES)
    return client.distance(POSES[0]) if service == "distance" else client.collide(POSES[0])


SERVICES = ("check_poses", "check_path", "distance", "collide")


@pytest.mark.parametrize("service", SERVICES)
def test_a_whole_free_reply_is_free(client, puppet, service):
    puppet.fill = free
    said = ask(client, service)
    assert said.is_free
    with pytest.raises(TypeError, match=r"Reply has no truth value: use `.is_free`"):
        bool(said)
    assert (said.verdict, said.status) == (Verdict.FREE, Status.SUCCESS)
    assert said.info.snapshot_id == 7
    assert 0.0 < said.round_trip < TIMEOUT


@pytest.mark.parametrize("service", SERVICES)
def test_an_all_zero_reply_is_not_free(client, puppet, service):
    said = ask(client, service)
    assert not said.is_free
    with pytest.raises(TypeError, match=r"Reply has no truth value: use `.is_free`"):
        bool(said)
    assert (said.verdict, said.status) == (Verdict.UNKNOWN, Status.UNDEFINED)


@pytest.mark.parametrize("service", SERVICES)
def test_a_late_reply_is_not_free_and_not_mistaken_for_the_next(
    client, puppet, service, monkeypatch
):
    puppet.fill = free
    puppet.gate.clear()
    with monkeypatch.context() as patch:
        patch.setattr(client, "timeout", 0.2)
        late = ask(client, service)
    assert puppet.has_request.wait(TIMEOUT)
    assert not late.is_free
    assert (late.verdict, late.status) == (Verdict.UNKNOWN, Status.UNDEFINED)
    assert "no reply" in late.message
    assert late.round_trip == np.inf
    # The late FREE comes in while the next question waits for its own answer.
    puppet.fill = lambda reply: None
    puppet.gate.set()
    assert not ask(client, service).is_free


def test_a_reply_that_is_here_but_late_is_not_free(client, monkeypatch):
    """The executor of the planner was busy: the reply is read after the time limit."""
    clock = SimpleNamespace(now=0.0, spins=0.9 * TIMEOUT, monotonic=lambda: clock.now)
    monkeypatch.setattr("gjk_collision.ros.client.time", clock)

    def spin_once(timeout):
        clock.now += clock.spins
        asked[-1].set_result(free)

    executor = SimpleNamespace(spin_once=spin_once, get_nodes=lambda: [node])
    node = SimpleNamespace(executor=executor)
    monkeypatch.setattr(client, "_waiting", Waiting(node, executor))
    free = Collide.Response(is_free=True)
    free.verdict.verdict, free.verdict.status, free.info.snapshot_id = 1, 1, 7
    asked = []

    class Requests:
        srv_type = Collide

        def call_async(self, request):
            asked.append(Future())
            return asked[-1]

        def remove_pending_request(self, future):
            asked.remove(future)

    missing = client._missing(Collide)
    [(early, took)] = client._exchange(Requests(), [Collide.Request()], missing)
    assert (early, took) == (free, 0.9 * TIMEOUT)
    clock.spins = 1.1 * TIMEOUT
    [(late, took)] = client._exchange(Requests(), [Collide.Request()], missing)
    assert (late.is_free, late.verdict.verdict, took) == (False, Verdict.UNKNOWN, np.inf)
    assert len(asked) == 1


def test_one_thread_at_a_time_spins(client, puppet, monkeypatch):
    """Two threads in one executor: rclpy raises "generator already executing" in one of them."""
    puppet.fill = free
    spinning, most, spin_once = [], [0], client._executor.spin_once

    def watched(*timeout):
        spinning.append(threading.get_ident())
        most[0] = max(most[0], len(spinning))
        try:
            spin_once(*timeout)
        finally:
            spinning.remove(threading.get_ident())

    monkeypatch.setattr(client._executor, "spin_once", watched)
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda _: client.collide(POSES[0]), range(80)))
    assert all(reply.is_free for reply in replies)
    assert most == [1]


def test_executor_that_another_thread_spins(nodes, puppet):
    """A reply that the other thread has received is used, and two threads never spin."""
    _, client = nodes
    puppet.fill = free
    node = rclpy.create_node("spun", context=client._node.context)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    shared = CollisionClient(node, "odom", server="puppet", timeout=TIMEOUT, executor=executor)
    spinner = threading.Thread(target=executor.spin)
    spinners, spin_once = set(), executor.spin_once

    def watched(*timeout, **options):
        spinners.add(threading.get_ident())
        spin_once(*timeout, **options)

    executor.spin_once = watched
    assert shared.wait_for_server(TIMEOUT)
    spinner.start()
    try:
        while not spinners:
            time.sleep(0.001)
        for _ in range(40):
            reply = shared.collide(POSES[0])
            assert reply.is_free
            assert reply.round_trip < TIMEOUT
        assert spinners == {spinner.ident}
    finally:
        executor.shutdown()
        spinner.join()
    # Nobody spins: the client does.
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    alone = CollisionClient(node, "odom", server="puppet", timeout=TIMEOUT, executor=executor)
    assert alone.collide(POSES[0]).is_free
    executor.shutdown()
    node.destroy_node()


@pytest.fixture
def other(client):
    """Another executor, which has no node."""
    executor = SingleThreadedExecutor(context=client._node.context)
    yield executor
    executor.shutdown()


def test_a_node_that_was_spun_elsewhere_is_taken_back(client, puppet, other):
    """rclpy.spin_once and similar functions remove the node from the client's executor."""
    puppet.fill = free
    rclpy.spin_once(client._node, executor=other, timeout_sec=0.0)
    assert client.collide(POSES[0]).is_free
    done = Future()
    done.set_result(None)
    rclpy.spin_until_future_complete(client._node, done, other)
    assert client._node not in client._executor.get_nodes()
    assert client.collide(POSES[0]).is_free
    client._executor.remove_node(client._node)
    assert client.collide(POSES[0]).is_free


@pytest.mark.parametrize("is_spun", [True, False])
def test_a_node_in_another_executor(client, puppet, other, is_spun):
    puppet.fill = free
    other.add_node(client._node)
    thread = threading.Thread(target=other.spin)
    if is_spun:
        is_running = other.create_task(lambda: None)
        thread.start()
        while not is_running.done():
            time.sleep(0.001)
    assert client.collide(POSES[0]).is_free
    assert client._node.executor is other
    other.remove_node(client._node)
    assert client.collide(POSES[0]).is_free
    if is_spun:
        other.shutdown()
        thread.join()


def test_a_blocking_call_in_a_callback_is_refused_at_once(client, puppet):
    executor, sent = client._executor, len(puppet.requests)

    def callback():
        with pytest.raises(RuntimeError, match=r"from a callback .* use call_async"):
            client.collide(POSES[0])

    executor.spin_until_future_complete(executor.create_task(callback), TIMEOUT)
    assert len(puppet.requests) == sent


def test_a_blocking_call_in_a_callback_of_several_threads(client, puppet):
    puppet.fill = free
    executor = MultiThreadedExecutor(2, context=client._node.context)
    executor.add_node(client._node)
    asked = executor.create_task(client.collide, POSES[0])
    executor.spin_until_future_complete(asked, TIMEOUT)
    assert asked.result().is_free
    executor.remove_node(client._node)
    executor.shutdown()


@pytest.mark.parametrize("service", SERVICES)
def test_an_asynchronous_call_in_a_callback(client, puppet, service):
    puppet.fill = free
    executor, poses = client._executor, POSES if service.startswith("check") else POSES[0]
    expected = ask(client, service)

    async def callback():
        return await client.call_async(service, poses)

    task = executor.create_task(callback)
    executor.spin_until_future_complete(task, TIMEOUT)
    reply = task.result()
    assert type(reply) is type(expected) and reply.is_free
    assert reply.round_trip < TIMEOUT
    assert client._outstanding == 0 and not list(client._node.timers)


def test_an_asynchronous_call_whose_reply_cannot_be_read(client, puppet, monkeypatch):
    """Its future ends with the error; a coroutine that awaits it does not wait for ever."""
    monkeypatch.setattr("gjk_collision.ros.client._read", lambda *_: 1 / 0)
    future = client.call_async("collide", POSES[0])
    future.add_done_callback(lambda done: done.exception())  # else the executor raises it
    client._executor.spin_until_future_complete(future, TIMEOUT)
    assert isinstance(future.exception(), ZeroDivisionError)
    assert client._outstanding == 0


def test_an_asynchronous_call_without_a_reply(client, puppet, monkeypatch):
    puppet.gate.clear()
    monkeypatch.setattr(client, "timeout", 0.1)
    futures = [client.call_async("collide", POSES[0]) for _ in range(client.max_outstanding)]
    full = client.call_async("collide", POSES[0])
    assert full.result().verdict is Verdict.UNKNOWN
    assert full.result().status is Status.LIMIT_EXCEEDED
    for future in futures:
        client._executor.spin_until_future_complete(future, TIMEOUT)
        assert not future.result().is_free
        assert future.result().message.endswith(" within 0.1 s")
    assert client._outstanding == 0


def test_an_asynchronous_call_checks_its_arguments(client):
    with pytest.raises(InputError, match="question: must be"):
        client.call_async("distances", POSES)
    with pytest.raises(InputError, match="poses: must"):
        client.call_async("check_poses", POSES[0])
    with pytest.raises(InputError, match="at: is for a mirror only"):
        client.call_async("collide", POSES[0], at=1)


def test_snapshot_and_reset(client, puppet, monkeypatch):
    def fill(reply):
        if isinstance(reply, Trigger.Response):
            reply.success, reply.message = True, "deleted"
        elif isinstance(reply, GetSnapshot.Response):  # others are late requests of other tests
            reply.footprint_names = ["long"]
            reply.verdict.status = int(Status.SUCCESS)

    puppet.fill = fill
    assert list(client.get_snapshot(7).footprint_names) == ["long"]
    asked = [each for each in puppet.requests if isinstance(each, GetSnapshot.Request)]
    assert asked[-1].snapshot_id == 7
    assert client.reset() == Trigger.Response(success=True, message="deleted")
    with pytest.raises(InputError, match="snapshot_id: must be"):
        client.get_snapshot(-1)
    puppet.gate.clear()
    monkeypatch.setattr(client, "timeout", 0.1)
    assert client.get_snapshot().verdict.message.endswith(" within 0.1 s")
    assert not client.reset().success


@pytest.mark.requirement("V-13")
def test_a_reply_that_does_not_come_has_the_none_of_each_field(nodes):
    _, client = nodes
    lonely = CollisionClient(
        client._node, "odom", server="nobody", timeout=0.1, executor=client._executor
    )
    assert not lonely.wait_for_server(0.1)
    assert lonely.get_snapshot().verdict.message.endswith("it is not there, but /puppet is")
    poses = ask(lonely, "check_poses")
    assert poses.verdicts.tolist() == [Verdict.UNKNOWN] * 3
    assert poses.statuses.tolist() == [Status.UNDEFINED] * 3
    assert not poses.is_free and poses.first_invalid_index == 0
    for service in SERVICES:
        info = ask(lonely, service).info
        assert np.isnan([info.footprint_age, info.max_obstacle_age]).all()
    path = ask(lonely, "check_path")
    assert (path.first_invalid_segment, path.last_valid_fraction) == (0, 0.0)
    assert path.obstacle_id == -1
    numbers = path.first_collision_time, path.min_distance, path.min_distance_lower_bound
    assert np.isnan(numbers).all()
    collide = ask(lonely, "collide")
    assert (collide.obstacle_id, collide.obstacle_source) == (-1, "")
    assert not len(ask(lonely, "distance").ids)


@pytest.mark.requirement("N-10")
@pytest.mark.parametrize("service", SERVICES)
def test_replies_of_several_servers(nodes, puppet, monkeypatch, service):
    """None of them is used, from the first one of another server until 3 s after its last one."""
    now = [steady_time()]
    monkeypatch.setattr("gjk_collision.ros.client.steady_time", lambda: now[0])
    client = CollisionClient(
        nodes[1]._node, "odom", server="puppet", timeout=TIMEOUT, executor=nodes[1]._executor
    )
    assert client.wait_for_server(TIMEOUT)

    def reply_of(epoch, passed=0):
        def fill(reply):
            free(reply)
            reply.info.snapshot_id = epoch << 32 | 7

        puppet.fill = fill
        now[0] += passed
        reply = ask(client, service)
        assert reply.is_free == (reply.status is Status.SUCCESS)
        return reply

    assert reply_of(5).is_free
    assert reply_of(6).is_free  # activated again
    assert not reply_of(5).is_free  # late
    for _ in range(2):
        refused = [reply_of(9), reply_of(6, 3 * S), reply_of(9), reply_of(6)]
        for reply in refused:
            assert (reply.verdict, reply.status) == (Verdict.UNKNOWN, Status.SNAPSHOT_MISMATCH)
            assert "another server with this name" in reply.message
            assert np.isfinite(reply.round_trip)
        assert reply_of(6, 3 * S + 1).is_free
    epochs = iter((6, 9, 6))  # in one call: also the reply before that of the other server

    def fill(reply):
        free(reply)
        reply.info.snapshot_id = next(epochs) << 32 | 7

    puppet.fill = fill
    now[0] += 4 * S
    if service == "distance":
        statuses = [each.status for each in client.distances([POSES[0]] * 3)]
        assert statuses == [Status.SNAPSHOT_MISMATCH] * 3


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(
    "spoil",
    [
        lambda reply: setattr(reply.verdict, "verdict", int(Verdict.UNKNOWN)),
        lambda reply: setattr(reply.verdict, "verdict", 200),  # of a future version
        lambda reply: setattr(reply.verdict, "status", int(Status.STALE_OBSTACLES)),
        lambda reply: setattr(reply.info, "snapshot_id", 0),
        lambda reply: setattr(reply, "is_free", False),
    ],
)
def test_a_reply_that_contradicts_itself_is_not_free(client, puppet, service, spoil):
    def fill(reply):
        free(reply)
        spoil(reply)

    puppet.fill = fill
    assert not ask(client, service).is_free


@pytest.mark.parametrize(
    ("verdicts", "statuses", "first"),
    [
        ([1, 1, 3], [1, 1, 1], 2),
        ([1, 0, 0], [1, 0, 0], 1),
        ([1, 1, 1], [1, 52, 1], 1),
        ([1, 1], [1, 1], 0),
        ([], [], 0),
        ([1, 1, 1, 1], [1, 1, 1, 1], 0),
    ],
)
def test_every_pose_must_be_free(client, puppet, verdicts, statuses, first):
    def fill(reply):
        free(reply)
        reply.verdicts, reply.statuses = array("B", verdicts), array("H", statuses)

    puppet.fill = fill
    said = client.check_poses(POSES)
    assert not said.is_free
    assert said.first_invalid_index == first
    assert len(said.verdicts) == len(said.statuses) == 3


@pytest.mark.parametrize(
    ("segment", "fraction", "read"),
    [(0, 0.0, (0, 0.0)), (-1, 0.5, (0, 0.0)), (-5, 1.0, (0, 0.0)), (1, 0.5, (1, 0.5)),
     (1, 7.0, (0, 0.0)), (1, float("nan"), (0, 0.0)), (2, 1.0, (2, 1.0))],
)  # fmt: skip
def test_all_of_a_path_must_be_free(client, puppet, segment, fraction, read):
    def fill(reply):
        free(reply)
        reply.first_invalid_segment, reply.last_valid_fraction = segment, fraction

    puppet.fill = fill
    said = client.check_path(POSES)
    assert not said.is_free
    assert (said.first_invalid_segment, said.last_valid_fraction) == read


def test_the_path_arrives_as_it_was_asked(client, puppet):
    client.check_path(POSES, times=[0.0, 1.0, 2.0], margin=0.25, tolerance=0.01)
    client.check_path(POSES, swept=False)
    client.check_path(POSES[:1], arcs=[[0.1, 2.0], [0.0, -1.0]])
    swept, discrete, curved = puppet.requests
    assert swept.header.frame_id == "odom"
    np.testing.assert_array_equal(swept.poses, POSES.ravel())
    assert list(swept.times) == [0.0, 1.0, 2.0]
    assert (swept.margin, swept.tolerance) == (0.25, 0.01)
    assert swept.interpolation == CheckPath.Request.SWEPT
    assert discrete.interpolation == CheckPath.Request.DISCRETE
    assert (len(discrete.times), discrete.tolerance) == (0, 0.0)
    assert list(curved.arcs) == [0.1, 2.0, 0.0, -1.0]
    assert curved.interpolation == CheckPath.Request.SWEPT


def test_the_question_arrives_as_it_was_asked(client, puppet):
    client.check_poses(
        POSES, times=[0.0, 1.0, 2.0], margin=0.25, mode="witness", stop_at_first=True,
        require_snapshot_id=9,
    )  # fmt: skip
    client.collide(margin=0.5)  # where the vehicle is
    request, here = puppet.requests
    assert (here.pose.header.frame_id, here.margin) == ("", 0.5)
    assert request.header.frame_id == "odom"
    np.testing.assert_array_equal(request.poses, POSES.ravel())
    assert list(request.times) == [0.0, 1.0, 2.0]
    assert request.margin == 0.25
    assert request.mode == CheckPoses.Request.MODE_WITNESS
    assert request.stop_at_first
    assert request.require_snapshot_id == 9


def test_many_distances_come_in_order_with_a_bound_on_those_in_flight(client, puppet, monkeypatch):
    count = 40
    poses = np.zeros((count, 3))
    poses[:, 0] = np.arange(count)
    send = client._clients["Distance"].call_async
    futures, in_flight = [], []

    def watched(request):
        futures.append(send(request))
        in_flight.append(sum(not future.done() for future in futures))
        return futures[-1]

    def fill(reply):
        free(reply)
        reply.ids = array("q", [int(puppet.requests[-1].pose.pose.position.x)])
        reply.distances = array("d", [1.0])

    monkeypatch.setattr(client._clients["Distance"], "call_async", watched)
    puppet.fill = fill
    said = client.distances(poses)
    assert [int(one.ids[0]) for one in said] == list(range(count))
    assert all(one.is_free for one in said)
    assert max(in_flight) == client.max_outstanding


def test_bad_arguments_are_refused(client, puppet):
    with pytest.raises(ValueError, match="poses"):
        client.check_poses([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="poses"):
        client.check_path([1.0, 2.0, 3.0])
    for call, good in (
        (client.check_poses, {"poses": POSES, "times": (), "margin": 1, "mode": "witness",
                              "stop_at_first": True, "require_snapshot_id": 2**63}),
        (client.check_path, {"poses": POSES, "times": (), "swept": True, "margin": 1,
                             "tolerance": 1}),
        (client.distances, {"poses": POSES, "k": 1, "max_distance": 1}),
        (client.distance, {"pose": POSES[0]}),
        (client.collide, {"pose": POSES[0], "margin": 1}),
    ):  # fmt: skip
        for argument in good:
            for wrong in (object(), "abc", [{}]):
                with pytest.raises(InputError, match=f"^{argument}: must"):
                    call(**{**good, argument: wrong})
    with pytest.raises(InputError, match=r"^footprint: must be a name \(got 3\)"):
        client.collide(POSES[0], footprint=3)
    with pytest.raises(InputError, match=r"^footprint: must have at least one name"):
        client.check_poses(POSES, footprint=[])
    with pytest.raises(ValueError, match="timeout"):
        CollisionClient(client._node, "odom", timeout=0.0)
    for wrong in (0, 65, 1.5, True):
        with pytest.raises(InputError, match="max_outstanding: must be a whole number from 1 to"):
            CollisionClient(client._node, "odom", max_outstanding=wrong)
    with pytest.raises(InputError, match="timeout: must be a number"):
        CollisionClient(client._node, "odom", timeout=True)
    for kind in (CollisionClient, CollisionMirror):
        for server in ("", "puppet/"):
            with pytest.raises(
                InputError, match="server: must be the name of a node, without '/'"
            ):
                kind(client._node, "odom", server=server)
    for frame in ("", "/odom", "odom/", "/", None):
        for kind in (CollisionClient, CollisionMirror):
            with pytest.raises(InputError, match="frame: must be the name of a frame, without"):
                kind(client._node, frame)
    assert not puppet.requests


# ---- groups, gradients, arcs, the nearest free pose


def free_pose(reply):
    free(reply)
    reply.free_pose = array("d", [1.0, 2.0, 0.5])
    reply.shift, reply.turn = 0.25, 0.1


def test_the_nearest_free_pose_is_given_only_in_a_reply_that_is_free(client, puppet):
    puppet.fill = free_pose
    found = client.nearest_free(POSES[0], 2.0, 0.5, margin=0.1, tolerance=0.01)
    request = puppet.requests[-1]
    assert (request.max_shift, request.max_turn) == (2.0, 0.5)
    assert (request.margin, request.tolerance) == (0.1, 0.01)
    assert found.is_free
    assert (found.free_pose.tolist(), found.shift, found.turn) == ([1.0, 2.0, 0.5], 0.25, 0.1)

    def contradictory(change):
        def fill(reply):
            free_pose(reply)
            change(reply)

        return fill

    for change in (
        lambda reply: setattr(reply, "is_free", False),
        lambda reply: setattr(reply, "free_pose", array("d")),
        lambda reply: setattr(reply.info, "snapshot_id", 0),
        lambda reply: setattr(reply.verdict, "verdict", int(Verdict.COLLISION)),
    ):
        puppet.fill = contradictory(change)
        found = client.nearest_free(POSES[0], 2.0)
        assert not found.is_free
        assert found.free_pose is None and np.isnan([found.shift, found.turn]).all()
    puppet.fill = lambda reply: None
    assert client.nearest_free(POSES[0], 2.0).free_pose is None, "a reply of zeros"


def test_groups_are_counted_from_the_verdicts(client, puppet):
    def fill(reply):
        free(reply)
        reply.is_free = False
        reply.verdicts = array("B", [1, 1, 2])
        reply.group_first_invalid = array("i", [-1, -1])  # contradicts the verdicts

    puppet.fill = fill
    found = client.check_poses(POSES, groups=[0, 1, 3], stop_at_first=True)
    assert list(puppet.requests[-1].group_offsets) == [0, 1, 3]
    assert found.group_first_invalid.tolist() == [-1, 1]
    assert not found.is_free
    puppet.fill = lambda reply: None
    assert client.check_poses(POSES, groups=[0, 1, 3]).group_first_invalid.tolist() == [0, 0]


def test_gradients_of_another_length_are_none(client, puppet):
    def fill(k, lost=0):
        def fill(reply):
            free(reply)
            count = 3 * k
            reply.gradient_ids = array("q", range(count))
            reply.gradient_distances = array("d", range(count))
            reply.gradients = array("d", range(3 * count - lost))
            reply.gradient_rates = array("d", range(count))
            reply.gradient_smooth = array("B", [1] * count)

        return fill

    puppet.fill = fill(2)
    found = client.check_poses(POSES, mode="gradient", k=2)
    request = puppet.requests[-1]
    assert (request.mode, request.k) == (request.MODE_GRADIENT, 2)
    assert found.gradient_ids.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert found.gradients[1, 1].tolist() == [9.0, 10.0, 11.0]
    assert found.gradient_smooth.dtype == bool
    for wrong in (fill(0), fill(2, lost=1)):
        puppet.fill = wrong
        none = client.check_poses(POSES, mode="gradient", k=2)
        assert none.gradients.shape == (3, 2, 3) and np.isnan(none.gradients).all()
        assert (none.gradient_ids == -1).all()
    puppet.fill = lambda reply: None  # refused, because k is too great; it takes no memory here
    refused = client.check_poses(POSES, mode="gradient", k=2**32 - 1)
    assert refused.gradient_ids.shape == (3, 2**32 - 1) and refused.gradient_ids[2, 10**9] == -1
