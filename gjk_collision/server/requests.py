# SPDX-FileCopyrightText: gjk_collision contributors
# SPDX-License-Identifier: Apache-2.0
"""Handles requests from their arrival to their replies. Every request gets a reply."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._core import Budget
from ..errors import InputError
from ..verdict import Status
from .data.faults import Fault
from .data.snapshot import Snapshot, empty_snapshot
from .frames import lookup
from .frames.poses import FrameError
from .scheduler import Scheduler
from .server import Exchange, Server
from .services import Service
from .services.answers import Answer
from .services.poses import NO_LIMIT

__all__ = ["Answered", "Requests"]

# Maximum number of requests that wait for a transform. Further requests are answered at once.
MAX_WAITING = 64


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a request.

    Attributes
    ----------
    reply : object
        What the function `fill` made of the answer.
    found : Answer
        The answer.
    snapshot : Snapshot
        The data that it is from, with the ages at the time when it is sent.
    seconds : float
        Time from the arrival of the request [s], without the time that it waited.
    request : Service or None
        The request, with the poses that were looked up; None: an internal error.
    """

    reply: Any
    found: Answer
    snapshot: Snapshot
    seconds: float
    request: Service | None = None


class Requests:
    """Answers the requests of a server.

    Parameters
    ----------
    server : Server
        The server that has the data for the answers.
    scheduler : Scheduler
        Where requests wait, and where their answers are computed.
    is_live : bool
        False for recorded requests, so that an answer depends on the recording only: there is no
        time budget, and ids of snapshots in requests, which are those of the recorded node, are
        ignored.
    """

    def __init__(self, server: Server, scheduler: Scheduler, *, is_live: bool = True) -> None:
        self._server, self._scheduler, self._is_live = server, scheduler, is_live
        self._waiting: dict[Any, Service] = {}  # future -> request that waits for its transform
        self._is_resuming = self._is_again = False

    async def answer(
        self,
        request: Service,
        fill: Callable[[Answer, Snapshot | None], Any],
        *,
        is_large: bool,
        name: str = "",
    ) -> Answered:
        """Answer a request. After any error, the answer is UNKNOWN.

        Parameters
        ----------
        request : Service
            The request.
        fill : callable
            Makes the reply of an answer from a snapshot, without its info. It is called where the
            answer is computed. Without a snapshot, the answer only gives a reason.
        is_large : bool
            Whether large requests must wait for each other, see `Scheduler.enter`.
        name : str
            Name of the service, for the log.
        """
        server, scheduler = self._server, self._scheduler
        exchange = Exchange(server)
        try:
            if self._is_awaited(request, {}):
                await self._transform(request)
                exchange = Exchange(server)  # the time budget does not include the wait
            if is_large:
                await scheduler.enter()
                exchange = Exchange(server)
            try:
                return await self._answer(request, fill, exchange, is_large)
            finally:
                if is_large:
                    scheduler.leave()
        except Exception as error:
            server.note_error(name or type(request).__name__, error)
            fault = Fault(Status.INTERNAL_ERROR, repr(error))
            found, snapshot = request.refused(fault), exchange.snapshot_or_empty(fault)
            return Answered(fill(found, None), found, snapshot, exchange.seconds)

    # ---- the wait for a transform

    def resume(self) -> None:
        """Continue the requests whose transforms have arrived."""
        self._is_again = True
        if self._is_resuming:  # a lookup inserts received transforms, which calls this again
            return
        self._is_resuming = True
        try:
            while self._is_again:
                self._is_again = False
                known: dict[str, float] = {}
                for done, request in list(self._waiting.items()):
                    if not done.done() and not self._is_awaited(request, known):
                        done.set_result(None)
        except Exception as error:  # the caller has received a transform; the wait has a limit
            self._server.note_error("a request that waits for a transform", error)
        finally:
            self._is_resuming = False

    def _is_awaited(self, request: Service, known: dict[str, float]) -> bool:
        """Return whether the transform of a request's frame at its stamp may still arrive.

        `known` stores the result of `lookup.awaited_from` for each frame.
        """
        server = self._server
        if not server.is_active:
            return False
        frame = request.frame_id
        if frame not in known:
            known[frame] = lookup.awaited_from(server.config, server.transforms, frame)
        return request.stamp > known[frame]

    async def _transform(self, request: Service) -> None:
        """Wait until the transform of a request has arrived, but at most `transform_wait`."""
        if len(self._waiting) >= MAX_WAITING:
            return
        done = self._scheduler.future()
        cancel = self._scheduler.call_later(
            self._server.config.transform_wait,
            lambda: None if done.done() else done.set_result(None),
        )
        self._waiting[done] = request
        try:
            await done
        finally:
            del self._waiting[done]
            cancel()

    # ---- the answer

    async def _answer(
        self,
        request: Service,
        fill: Callable[[Answer, Snapshot | None], Any],
        exchange: Exchange,
        is_large: bool,
    ) -> Answered:
        server = self._server
        if request.needs_data:
            wanted = request.required_id if self._is_live else 0
            first = exchange.first_snapshot(wanted, in_time=request.needs_footprint)
        else:
            first = empty_snapshot(server.config, Fault(Status.UNDEFINED, ""), server.now())
        try:
            if request.needs_footprint:
                first = request.chosen(first)
            if is_large:
                server.keep(first)

            async def computed(snapshot: Snapshot) -> tuple[Answer, Any]:
                return await self._compute(request, snapshot, fill, exchange, is_large)

            found, reply = await computed(first)
            last = exchange.final_snapshot(first, found.verdict)
            if last.fault is not first.fault:
                found, reply = await computed(last)
            return Answered(reply, found, last, exchange.seconds, request)
        except (InputError, FrameError) as error:
            last, fault = server.confirm(first), Fault.of(error)
            # Without a snapshot, the state of the node is the reason, whatever is asked.
            if request.needs_data and not (last.id and server.is_active):
                fault = last.fault or fault
            found = request.refused(fault)
            return Answered(fill(found, None), found, last, exchange.seconds, request)

    async def _compute(
        self,
        request: Service,
        snapshot: Snapshot,
        fill: Callable[[Answer, Snapshot | None], Any],
        exchange: Exchange,
        is_large: bool,
    ) -> tuple[Answer, Any]:
        """Return the answer from a snapshot, and what `fill` made of it."""
        budget = NO_LIMIT
        if self._is_live:
            budget = Budget(
                lambda: self._scheduler.is_closed or exchange.is_late(),
                search_time=snapshot.config.time_budget,
            )
        request.look_up(snapshot, exchange.transforms)  # in the thread that changes transforms

        def compute() -> tuple[Answer, Any]:
            found = request.answer(snapshot, budget)
            return found, fill(found, snapshot)

        return await self._scheduler.run(compute, is_large=is_large)
