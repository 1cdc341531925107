import type { JsonValue } from '@perdure/events';
import { PartialJson } from './partial-json.js';

/** Milliseconds between two partial objects. */
const PAUSE_MS = 100;

/** Tells what there is of an object while its text grows, not more often than the pause allows. */
export class PartialTeller {
  private json = new PartialJson();
  private toldAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly onPartial: ((partial: JsonValue) => void) | undefined,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Another answer begins. */
  begin(): void {
    this.json = new PartialJson();
  }

  add(text: string): void {
    if (this.onPartial === undefined) return;
    this.json.feed(text);
    const now = performance.now();
    if (now - this.toldAt < PAUSE_MS) return;
    const partial = this.json.value();
    if (partial === undefined) return;
    this.toldAt = now;
    try {
      this.onPartial(partial);
    } catch (error) {
      this.onError(error);
    }
  }
}
