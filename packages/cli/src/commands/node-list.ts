import type { CliContext } from '../cli-context.js';
import type { PlaceFlags } from '../config/settings.js';
import { exitCodes } from '../exit-code.js';
import { jsonText } from '../terminal/json-text.js';
import { formatTable } from '../terminal/table.js';
import { visibleLine } from '../terminal/visible.js';
import { withStore } from './with-store.js';

export type NodeFlags = PlaceFlags;

/** Characters of a name in the table: one that is longer would make every row as wide. */
const WIDEST = 64;

/** `perdure node list`. */
export function nodeList(context: CliContext, flags: NodeFlags): Promise<number> {
  return withStore(context, flags, async (runtime) => {
    const nodes = await runtime.nodes();
    const { screen, json } = context;
    if (json) await screen.out.line(jsonText(nodes));
    else if (nodes.length === 0) await screen.note('No node lives or has sessions in this store.');
    else {
      const rows = nodes.map(({ node, isAlive, sessions }) => [
        visibleLine(node, WIDEST),
        isAlive ? 'alive' : 'dead',
        String(sessions),
      ]);
      const width = screen.out.isTerminal ? screen.out.width : Number.POSITIVE_INFINITY;
      for (const line of formatTable([['NODE', 'STATE', 'SESSIONS'], ...rows], width)) await screen.out.line(line);
    }
    return exitCodes.completed;
  });
}
