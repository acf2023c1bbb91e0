/**
 * The free queue: which block is handed out next, how many requests use each of the others, which free ones carry
 * content. Twin of sim/freequeue.py; a circular list through the blocks, anchored on block 0, which nobody gets.
 */

export class FreeQueue {
  /**
   * All blocks from 1 on are free, in ascending order.
   * @param {number} usable blocks there are
   */
  constructor(usable) {
    /** How many requests use a block; 0: it is free. */
    this.users = new Int32Array(usable + 1);
    this.next = Int32Array.from({ length: usable + 1 }, (_, block) => (block + 1) % (usable + 1));
    this.prev = Int32Array.from({ length: usable + 1 }, (_, block) => (block + usable) % (usable + 1));
    /** 1 for free blocks that still carry content. */
    this.isCached = new Uint8Array(usable + 1);
    this.size = usable;
    this.cached = 0;
  }

  /** Bytes that a copy takes. */
  get bytes() {
    return 13 * this.users.length;
  }

  copy() {
    const other = new FreeQueue(0);
    other.users = this.users.slice();
    other.next = this.next.slice();
    other.prev = this.prev.slice();
    other.isCached = this.isCached.slice();
    other.size = this.size;
    other.cached = this.cached;
    return other;
  }

  /**
   * Put the queue in an order.
   * @param {Iterable<number>} order free blocks
   * @param {number[]} cached places in the order of those that carry content
   */
  arrange(order, cached) {
    const blocks = [...order];
    this.next[0] = this.prev[0] = 0;
    for (const block of blocks) this.insert(block, this.prev[0]);
    for (const place of cached) this.isCached[blocks[place]] = 1;
    this.size = blocks.length;
    this.cached = cached.length;
  }

  /** Free blocks in the order in which they will be handed out. */
  *order() {
    for (let block = this.next[0]; block; block = this.next[block]) yield block;
  }

  /**
   * Hand out a block and return it; negative: its content goes.
   * @param {number} id
   */
  take(id) {
    const block = Math.abs(id);
    if (id < 0) this.forget(block);
    this.remove(block);
    this.users[block] = 1;
    return block;
  }

  /**
   * Use a block with content once more and return it.
   * @param {number} block
   */
  share(block) {
    if (!this.users[block]) {
      this.forget(block);
      this.remove(block);
    }
    this.users[block]++;
    return block;
  }

  /**
   * Give back a table from its entry `first` on, last block first: entries before `hashed` go to the tail, the others
   * to the head.
   * @param {number[]} table
   * @param {number} hashed
   * @param {number} [first]
   */
  release(table, hashed, first = 0) {
    let head = 0;
    for (let place = table.length - 1; place >= first; place--) {
      const block = table[place];
      if (--this.users[block]) continue;
      const isHashed = place < hashed;
      this.insert(block, isHashed ? this.prev[0] : head);
      if (!isHashed) head = block;
      this.isCached[block] = Number(isHashed);
      this.cached += Number(isHashed);
      this.size++;
    }
  }

  /** What the free blocks carry is forgotten. */
  clear() {
    this.isCached.fill(0);
    this.cached = 0;
  }

  /** @param {number} block */
  forget(block) {
    this.cached -= this.isCached[block];
    this.isCached[block] = 0;
  }

  /** @param {number} block */
  remove(block) {
    this.next[this.prev[block]] = this.next[block];
    this.prev[this.next[block]] = this.prev[block];
    this.size--;
  }

  /**
   * @param {number} block
   * @param {number} after
   */
  insert(block, after) {
    const before = this.next[after];
    this.next[after] = this.prev[before] = block;
    this.prev[block] = after;
    this.next[block] = before;
  }
}
