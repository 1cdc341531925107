import type { SessionTree } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { collectionOf } from '../sessions/recorded-session.js';
import { jsonText } from '../terminal/json-text.js';
import { visible } from '../terminal/visible.js';
import { sessionKey, type SessionsFlags } from './sessions-flags.js';
import { withStore } from './with-store.js';

/** `perdure sessions tree ID`: a line for each session, those below indented. */
export function sessionsTree(context: CliContext, id: string, flags: SessionsFlags): Promise<number> {
  return withStore(context, flags, async (runtime) => {
    const sessions = await collectionOf(runtime, sessionKey(id, flags));
    const tree = await sessions.tree(id);
    const { out } = context.screen;
    if (context.json) await out.line(jsonText(tree));
    else for (const line of linesOf(tree, '')) await out.line(line);
    return exitCodes.completed;
  });
}

function linesOf({ id, agentId, kind, at, isErased, below }: SessionTree, indent: string): readonly string[] {
  const relation = kind === 'fork' ? ` forked at ${at}` : kind === 'child' ? ' child' : '';
  const line = `${indent}${visible(id)} (${visible(agentId)})${relation}${isErased ? ', erased' : ''}`;
  return [line, ...below.flatMap((each) => linesOf(each, `${indent}  `))];
}
