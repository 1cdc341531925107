/** Bytes of artifacts, or texts made of them, that all sessions of a runtime keep in memory. */
const LARGEST = 64 * 1024 * 1024;

/** What was used last, as far as there is room: artifacts never change, so nothing in it is ever out of date. */
export class ByteCache<Value extends Uint8Array | string> {
  private readonly items = new Map<string, Value>();
  private size = 0;

  constructor(private readonly capacity = LARGEST) {}

  async get(key: string, load: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const known = this.items.get(key);
    if (known !== undefined) {
      this.items.delete(key);
      this.items.set(key, known);
      return known;
    }
    const value = await load();
    if (value !== undefined && !this.items.has(key)) this.keep(key, value);
    return value;
  }

  get bytes(): number {
    return this.size;
  }

  private keep(key: string, value: Value): void {
    const cost = costOf(value);
    if (cost > this.capacity) return;
    this.items.set(key, value);
    this.size += cost;
    for (const [oldest, item] of this.items) {
      if (this.size <= this.capacity) return;
      this.items.delete(oldest);
      this.size -= costOf(item);
    }
  }
}

function costOf(value: Uint8Array | string): number {
  return typeof value === 'string' ? value.length * 2 : value.byteLength;
}
