"""Who waits, who runs, who is to come: the waiting ring, the slots, the arrivals."""

from __future__ import annotations

from sim.engine.compiled import leaf, part
from sim.engine.layout import State, Status
from sim.engine.record import Kind, emit

_WAITING = int(Status.WAITING)
_REJECTED = int(Status.REJECTED)
_REFUSED = int(Status.REFUSED)
_REJECT = int(Kind.REJECT)


@leaf
def push_back(state: State, index: int) -> None:
    """Put a new arrival at the end of the waiting line."""
    config = state.config
    count = state.count
    state.lines[(count.wait_head + count.waiting) % config.line_size].waiting = index
    count.waiting += 1


@leaf
def push_front(state: State, index: int) -> None:
    """Put a preempted request at the front of the waiting line."""
    config = state.config
    count = state.count
    count.wait_head = (count.wait_head - 1) % config.line_size
    state.lines[count.wait_head].waiting = index
    count.waiting += 1


@leaf
def waiting_at(state: State, position: int) -> int:
    """Return the request at a position of the waiting line, 0 being the head."""
    config = state.config
    count = state.count
    return state.lines[(count.wait_head + position) % config.line_size].waiting


@part
def remove_waiting(state: State, position: int) -> None:
    """Take the request at `position` out of the waiting line, keeping the order of the others."""
    config = state.config
    count = state.count
    size = config.line_size
    for p in range(position, 0, -1):
        state.lines[(count.wait_head + p) % size].waiting = state.lines[(count.wait_head + p - 1) % size].waiting
    count.wait_head = (count.wait_head + 1) % size
    count.waiting -= 1


@part
def forget_waiting(state: State, index: int) -> None:
    """Take one request out of the waiting line, wherever it stands."""
    count = state.count
    for position in range(count.waiting):
        if waiting_at(state, position) == index:
            remove_waiting(state, position)
            return


@part
def take_slot(state: State, slot: int, index: int) -> None:
    """Seat a request, and find the lowest slot that is still free."""
    count = state.count
    state.seats[slot].request = index
    if slot == count.lowest_slot:
        free = slot + 1
        while free < len(state.seats) and state.seats[free].request >= 0:
            free += 1
        count.lowest_slot = free


@leaf
def leave_slot(state: State, slot: int) -> None:
    """Free a slot."""
    count = state.count
    row = state.seats[slot]
    row.request = -1
    count.releases += 1
    row.used_at = count.releases
    if slot < count.lowest_slot:
        count.lowest_slot = slot


@leaf
def _is_before(state: State, i: int, j: int) -> bool:
    a = state.lines[i]
    b = state.lines[j]
    return a.due_s < b.due_s or (a.due_s == b.due_s and a.due < b.due)


@leaf
def _swap(state: State, i: int, j: int) -> None:
    a = state.lines[i]
    b = state.lines[j]
    time_s = a.due_s
    request = a.due
    a.due_s = b.due_s
    a.due = b.due
    b.due_s = time_s
    b.due = request


@part
def _push_arrival(state: State, time_s: float, request: int) -> None:
    count = state.count
    i = int(count.heap)
    state.lines[i].due_s = time_s
    state.lines[i].due = request
    count.heap += 1
    while i > 0 and _is_before(state, i, (i - 1) // 2):
        _swap(state, i, (i - 1) // 2)
        i = (i - 1) // 2


@part
def _pop_arrival(state: State) -> None:
    count = state.count
    count.heap -= 1
    size = int(count.heap)
    _swap(state, 0, size)
    i = 0
    while True:
        least = i
        for j in (2 * i + 1, 2 * i + 2):
            if j < size and _is_before(state, j, least):
                least = j
        if least == i:
            return
        _swap(state, i, least)
        i = least


@part
def release_followers(state: State, index: int, time_s: float) -> None:
    """Let the requests arrive that waited for this one's end (closed loop, next turn of a chat)."""
    follower = int(state.requests[index].child)
    while follower >= 0:
        row = state.requests[follower]
        row.arrival_s = time_s + row.gap_s
        _push_arrival(state, row.arrival_s, follower)
        follower = int(row.sibling)


@part
def next_arrival_s(state: State) -> float:
    """Time of the next arrival [s], infinity if nobody is known to come."""
    config = state.config
    count = state.count
    time_s = 1e300
    if count.next_open < config.num_open:
        time_s = state.requests[state.lines[count.next_open].order].arrival_s
    if count.heap > 0 and state.lines[0].due_s < time_s:
        time_s = state.lines[0].due_s
    return time_s


@part
def pop_next(state: State, time_s: float) -> int:
    """Take the next arrival; of two at the same time the one with the smaller number."""
    config = state.config
    count = state.count
    is_open = count.next_open < config.num_open
    if is_open:
        is_open = state.requests[state.lines[count.next_open].order].arrival_s == time_s
    if count.heap > 0 and state.lines[0].due_s == time_s:
        index = int(state.lines[0].due)
        if not (is_open and state.lines[count.next_open].order < index):
            _pop_arrival(state)
            return index
    index = int(state.lines[count.next_open].order)
    count.next_open += 1
    return index


@part
def receive(state: State) -> None:
    """Put everyone who has arrived by now in the waiting line, or turn them away."""
    config = state.config
    count = state.count
    while count.events + 1 < len(state.events):
        time_s = next_arrival_s(state)
        if time_s > count.now_s:
            return
        index = pop_next(state, time_s)
        request = state.requests[index]
        if request.status == _REFUSED:
            emit(state, _REJECT, index, 2, 0)
            release_followers(state, index, time_s)
        elif config.max_waiting > 0 and count.waiting >= config.max_waiting:
            request.status = _REJECTED
            emit(state, _REJECT, index, 1, 0)
            release_followers(state, index, time_s)
        else:
            request.status = _WAITING
            push_back(state, index)
