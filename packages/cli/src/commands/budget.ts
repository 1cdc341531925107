import { readBudget, setBudget, type BudgetReport } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { parseBudget } from '../sessions/session-budget.js';
import { jsonText } from '../terminal/json-text.js';
import { formatTable } from '../terminal/table.js';
import { visible } from '../terminal/visible.js';
import { sessionKey, type SessionsFlags } from './sessions-flags.js';
import { withStore } from './with-store.js';

export interface BudgetFlags extends SessionsFlags {
  readonly set?: string;
}

/** `perdure budget SESSION`: how the tree of a session stands, after setting limits of it. */
export function budgetCommand(context: CliContext, id: string, flags: BudgetFlags): Promise<number> {
  const limits = flags.set === undefined ? undefined : parseBudget(flags.set, 'set');
  return withStore(context, flags, async ({ services: { store, env } }) => {
    const key = sessionKey(id, flags);
    const report = limits === undefined ? await readBudget(store, key) : await setBudget(store, key, limits, { env });
    const { out } = context.screen;
    if (context.json) await out.line(jsonText(report));
    else for (const line of linesOf(report, out.width)) await out.line(line);
    return exitCodes.completed;
  });
}

function linesOf({ root, limits, spent, held }: BudgetReport, width: number): readonly string[] {
  const head = `the tree of the session ${visible(root)}`;
  if (limits === null) return [`${head} has no budget`];
  const row = (name: string, limit: number | undefined, used: number, reserved: number, show = whole): string[] => {
    return [name, limit === undefined ? '-' : show(limit), show(used), show(reserved)];
  };
  const table = formatTable(
    [
      ['', 'LIMIT', 'SPENT', 'HELD'],
      row('tokens', limits.tokens, spent.tokens, held.tokens),
      row('usd', limits.micros, spent.micros, held.micros, money),
      row('calls', limits.calls, spent.calls, held.calls),
    ],
    width,
  );
  const end = limits.endsAt === undefined ? [] : [`it ends at ${new Date(limits.endsAt).toISOString()}`];
  return [head, ...table, ...end];
}

function whole(value: number): string {
  return String(value);
}

function money(micros: number): string {
  return (micros / 1_000_000).toFixed(6).replace(/0{1,4}$/, '');
}
