/** Items of the newest part; a push copies at most this many references. */
const TAIL = 64;

/**
 * An immutable list that grows at its end. A push costs the same whatever the length, and older versions stay valid, so
 * that a state can be folded ahead of a commit and dropped when the commit is refused.
 */
export class AppendList<T> implements Iterable<T> {
  private constructor(
    private readonly chunks: readonly (readonly T[])[],
    private readonly tail: readonly T[],
  ) {}

  static empty<T>(): AppendList<T> {
    return new AppendList<T>([], []);
  }

  static from<T>(items: readonly T[]): AppendList<T> {
    const chunks: (readonly T[])[] = [];
    const whole = items.length - (items.length % TAIL);
    for (let start = 0; start < whole; start += TAIL) chunks.push(items.slice(start, start + TAIL));
    return new AppendList(chunks, items.slice(whole));
  }

  get length(): number {
    return this.chunks.length * TAIL + this.tail.length;
  }

  at(index: number): T | undefined {
    const chunk = Math.floor(index / TAIL);
    return chunk < this.chunks.length
      ? this.chunks[chunk]?.[index % TAIL]
      : this.tail[index - this.chunks.length * TAIL];
  }

  push(item: T): AppendList<T> {
    const tail = [...this.tail, item];
    return tail.length < TAIL ? new AppendList(this.chunks, tail) : new AppendList([...this.chunks, tail], []);
  }

  /** The list with another item in one place. Cheap near the end, where changes happen. */
  with(index: number, item: T): AppendList<T> {
    const chunk = Math.floor(index / TAIL);
    if (chunk >= this.chunks.length) return new AppendList(this.chunks, this.tail.with(index - chunk * TAIL, item));
    return new AppendList(
      this.chunks.with(chunk, (this.chunks[chunk] as readonly T[]).with(index % TAIL, item)),
      this.tail,
    );
  }

  slice(start: number, end = this.length): T[] {
    const result: T[] = [];
    for (let index = Math.max(0, start); index < Math.min(end, this.length); index++) result.push(this.at(index) as T);
    return result;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const chunk of this.chunks) yield* chunk;
    yield* this.tail;
  }

  toJSON(): T[] {
    return [...this];
  }
}
