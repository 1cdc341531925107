/** What is kept of an output: all of it, or its head and its tail. */
export interface OutputExcerpt {
  readonly head: Buffer;
  readonly tail: Buffer;
  /** Bytes between head and tail that are not kept. */
  readonly droppedBytes: number;
}

/** Keeps the first and the last bytes of an output of any length, in memory of a fixed size. */
export class BoundedOutput {
  readonly #head: Buffer;
  readonly #tail: Buffer;
  #total = 0;

  constructor(bytes: number) {
    this.#head = Buffer.alloc(Math.ceil(bytes / 2));
    this.#tail = Buffer.alloc(Math.floor(bytes / 2));
  }

  add(chunk: Uint8Array): void {
    const room = Math.max(0, this.#head.length - this.#total);
    this.#head.set(chunk.subarray(0, room), Math.min(this.#total, this.#head.length));
    this.#addToTail(chunk.subarray(room), this.#total + Math.min(room, chunk.length) - this.#head.length);
    this.#total += chunk.length;
  }

  excerpt(): OutputExcerpt {
    const { length } = this.#tail;
    const afterHead = Math.max(0, this.#total - this.#head.length);
    const head = this.#head.subarray(0, Math.min(this.#total, this.#head.length));
    if (afterHead <= length) return { head, tail: this.#tail.subarray(0, afterHead), droppedBytes: 0 };
    const oldest = afterHead % length;
    const tail = Buffer.concat([this.#tail.subarray(oldest), this.#tail.subarray(0, oldest)]);
    return { head, tail, droppedBytes: afterHead - length };
  }

  /** The tail is a ring: a byte is at its place in the output behind the head, modulo the size. */
  #addToTail(bytes: Uint8Array, place: number): void {
    const { length } = this.#tail;
    if (bytes.length === 0 || length === 0) return;
    const kept = bytes.length > length ? bytes.subarray(bytes.length - length) : bytes;
    const start = (place + bytes.length - kept.length) % length;
    const first = kept.subarray(0, length - start);
    this.#tail.set(first, start);
    this.#tail.set(kept.subarray(first.length), 0);
  }
}
