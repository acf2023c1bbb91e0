/**
 * What each block of KV memory holds at a step: whose it is, which logical block of the text, how much of it is used.
 *
 * @typedef {import("./frame.js").Frame} Frame
 * @typedef {import("./frame.js").Seat} Seat
 */

export const Cell = Object.freeze({ FREE: 0, CACHED: 1, OWN: 2, HELD: 3, SHARED: 4, KEPT: 5, RESERVED: 6 });

/** Columns by block; block 0 is nobody's. */
export class Cells {
  /** @param {number} usable blocks there are */
  constructor(usable) {
    this.usable = usable;
    this.kind = new Uint8Array(usable + 1);
    this.owner = new Int32Array(usable + 1);
    this.logical = new Int32Array(usable + 1);
    this.tokens = new Int32Array(usable + 1);
    this.users = new Int32Array(usable + 1);
  }

  clear() {
    this.kind.fill(Cell.FREE);
    this.owner.fill(-1);
    this.users.fill(0);
  }

  /** @param {Frame} frame */
  read(frame) {
    this.clear();
    if (!frame.setting.region) this.kind.set(frame.pool.isCached);
    for (const seat of frame.seats.values()) this.readSeat(seat, frame.setting);
    for (const [slot, { request, tokens, blocks }] of frame.kept)
      blocks.forEach((block, logical) => {
        this.put(block, Cell.KEPT, request, logical, tokens, frame.setting.blockSize);
        this.users[block] = -1 - slot;
      });
  }

  /**
   * @param {Seat} seat
   * @param {import("./setting.js").Setting} setting
   */
  readSeat(seat, { region, blockSize }) {
    const kind = seat.phase === "held" ? Cell.HELD : Cell.OWN;
    const tokens = tokensOf(seat);
    for (let logical = 0; logical < seat.blocks.length; logical++) {
      const block = seat.blocks[logical];
      const isUnused = region > 0 && logical * blockSize >= tokens;
      this.put(block, isUnused ? Cell.RESERVED : kind, seat.request, logical, tokens, blockSize);
      if (++this.users[block] > 1) this.kind[block] = Cell.SHARED;
    }
  }

  /**
   * @param {number} block
   * @param {number} kind
   * @param {number} owner
   * @param {number} logical
   * @param {number} tokens of the whole text
   * @param {number} blockSize
   */
  put(block, kind, owner, logical, tokens, blockSize) {
    this.kind[block] = kind;
    this.owner[block] = owner;
    this.logical[block] = logical;
    this.tokens[block] = Math.max(0, Math.min(blockSize, tokens - logical * blockSize));
  }
}

/**
 * Tokens of a text whose keys and values are there once the step is done.
 * @param {Seat} seat
 */
export const tokensOf = (seat) => seat.computed + seat.scheduled;

/**
 * Requests that use a block, in order of admission.
 * @param {Frame} frame
 * @param {number} block
 */
export const usersOf = (frame, block) =>
  [...frame.seats.values()].filter((seat) => seat.blocks.includes(block)).map((seat) => seat.request);
