/** What an entry costs beside its texts, about. */
const ENTRY_BYTES = 64;

interface Place {
  readonly stream: string;
  readonly revision: number;
}

/** The ids that this process has stored lately, up to a number of bytes; empty after a start. */
export class RecentIds {
  private readonly limit: number;
  private readonly places = new Map<string, Place>();
  private bytes = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  remember(id: string, place: Place): void {
    this.forget(id);
    this.places.set(id, place);
    this.bytes += sizeOf(id, place);
    for (const oldest of this.places.keys()) {
      if (this.bytes <= this.limit) return;
      this.forget(oldest);
    }
  }

  revisionOf(id: string, stream: string): number | undefined {
    const place = this.places.get(id);
    return place?.stream === stream ? place.revision : undefined;
  }

  private forget(id: string): void {
    const place = this.places.get(id);
    if (place === undefined) return;
    this.places.delete(id);
    this.bytes -= sizeOf(id, place);
  }
}

function sizeOf(id: string, { stream }: Place): number {
  return ENTRY_BYTES + id.length + stream.length;
}
