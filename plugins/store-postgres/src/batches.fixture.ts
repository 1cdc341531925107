import type { RecordedFact } from '@perdure/events';

/** A batch that the writer was told to be stored. */
export interface Acknowledged {
  readonly stream: string;
  readonly firstId: string;
  readonly size: number;
  readonly revision: number;
}

/** What the lines of a writer acknowledge. */
export function acknowledged(lines: readonly string[]): Acknowledged[] {
  return lines.flatMap((line) => {
    const [word, stream = '', firstId = '', size, revision] = line.split(' ');
    return word === 'stored' ? [{ stream, firstId, size: Number(size), revision: Number(revision) }] : [];
  });
}

/** What is wrong with a stream of the writer: gaps, doubles, torn batches, acknowledged batches that are not there. */
export function faultsOf(facts: readonly RecordedFact[], batches: readonly Acknowledged[]): string[] {
  const faults: string[] = [];
  const byId = new Map(facts.map((fact) => [fact.id, fact]));
  if (byId.size !== facts.length) faults.push('an id is there twice');
  let open: { readonly batch: string; readonly size: number; next: number } | undefined;
  for (const [index, { revision, payload }] of facts.entries()) {
    if (revision !== index) faults.push(`revision ${revision} stands at place ${index}`);
    const { batch, size, place } = JSON.parse(payload) as { batch: string; size: number; place: number };
    open ??= { batch, size, next: 0 };
    if (open.batch !== batch || open.next !== place) faults.push(`the batch before revision ${revision} is torn`);
    open = place + 1 === size ? undefined : { batch, size, next: place + 1 };
  }
  if (open !== undefined) faults.push('the last batch is torn');
  for (const { firstId, size, revision } of batches) {
    if (byId.get(firstId)?.revision !== revision - size + 1)
      faults.push(`the batch up to revision ${revision} is lost`);
  }
  return faults;
}
