import { sessionKeyOf, type FactRegistry, type RecordedFact, type SessionKey } from '@perdure/events';
import { timeOf } from '../session/fact-encoder.js';
import { JsonText } from './json-text.js';
import type { ProjectedFact } from './projection.js';

/** A stored fact for projections; `undefined` for one that this build does not know, or of no session. */
export function projectedFact(recorded: RecordedFact, facts: FactRegistry): ProjectedFact | undefined {
  const key = sessionKeyOf(recorded.stream);
  if (key === undefined) return undefined;
  if (facts.isCurrent(recorded)) return new StoredFact(recorded, key, recorded.payload);
  const read = facts.read(recorded);
  return read.kind === 'known' ? new StoredFact(recorded, key, JSON.stringify(read.payload)) : undefined;
}

class StoredFact implements ProjectedFact {
  readonly json: JsonText;

  constructor(
    private readonly recorded: RecordedFact,
    readonly key: SessionKey,
    private readonly text: string,
  ) {
    this.json = new JsonText(text);
  }

  get type(): string {
    return this.recorded.type;
  }
  get payload(): unknown {
    return JSON.parse(this.text);
  }
  get bytes(): number {
    return Buffer.byteLength(this.text);
  }
  get revision(): number {
    return this.recorded.revision;
  }
  get position(): string {
    return this.recorded.position;
  }
  get time(): number {
    return timeOf(this.recorded);
  }
}
