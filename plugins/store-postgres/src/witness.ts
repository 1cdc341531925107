import type { OnConnect } from './connections.js';
import type { Names } from './names.js';
import { streamKey } from './names.js';
import { truncated } from './postgres-error.js';

interface Witnessed {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
}

/**
 * The last fact that this node was told to be stored. Each connection that is made later must lead to a server that has
 * it: one that took over from a lost server before it had everything, or that was set back to a backup, is refused.
 */
export class Witness {
  private readonly names: Names;
  private last: Witnessed | undefined;

  constructor(names: Names) {
    this.names = names;
  }

  note(witnessed: Witnessed): void {
    this.last = witnessed;
  }

  /** Throws PERDURE_STORE_TRUNCATED when the fact is not there and was not truncated. */
  readonly check: OnConnect = async (query) => {
    const { last } = this;
    if (last === undefined) return;
    const { stream, revision, id } = last;
    const { schema } = this.names;
    const text = `select s.cut > $2::bigint, f.id = $3::uuid, (select max(m.revision) from ${schema}.fact m
        where m.stream = s.id and m.revision < $2::bigint)
      from ${schema}.stream s left join ${schema}.fact f on f.stream = s.id and f.revision = $2::bigint
      where s.key = $1`;
    const [row] = await query(text, [streamKey(stream), revision, id]);
    if (row?.[0] === true || row?.[1] === true) return;
    throw truncated(stream, Number(row?.[2] ?? -1));
  };
}
