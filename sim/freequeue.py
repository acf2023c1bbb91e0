"""The free queue as the replay keeps it: which block is next, how many use each, which carry a hash."""

from __future__ import annotations

from collections import OrderedDict


class FreeQueue:
    """Free blocks in the order in which they will be handed out, and the users of the others.

    Parameters
    ----------
    usable : int
        Blocks 1..usable exist; the null block is not among them.
    """

    def __init__(self, usable: int) -> None:
        self.order: OrderedDict[int, None] = OrderedDict.fromkeys(range(1, usable + 1))
        self.users: dict[int, int] = {}
        self.cached: set[int] = set()  # of the free ones

    def __len__(self) -> int:
        return len(self.order)

    def take(self, block: int) -> int:
        """Hand out a block; negative: its cached content goes. Returns the block id."""
        block_id = abs(block)
        if block < 0:
            self.cached.discard(block_id)
        del self.order[block_id]
        self.users[block_id] = 1
        return block_id

    def share(self, block: int) -> int:
        """Use a cached block once more. Returns the block id."""
        if block in self.users:
            self.users[block] += 1
        else:
            del self.order[block]
            self.cached.discard(block)
            self.users[block] = 1
        return block

    def release(self, table: list[int], hashed: int) -> None:
        """Give back a table, last block first: its first `hashed` blocks go to the tail, the others to the head."""
        first: list[int] = []
        for position in range(len(table) - 1, -1, -1):
            block = table[position]
            self.users[block] -= 1
            if self.users[block]:
                continue
            del self.users[block]
            if position < hashed:
                self.cached.add(block)
                self.order[block] = None
            else:
                first.append(block)
        for block in reversed(first):
            self.order[block] = None
            self.order.move_to_end(block, last=False)
