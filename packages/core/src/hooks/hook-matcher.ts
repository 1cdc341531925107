import type { JsonValue } from '@perdure/events';
import type { Hook } from '@perdure/plugin-api';

/** What of an occurrence a matcher looks at. */
export interface HookTarget {
  readonly sessionId: string;
  readonly tool?: string;
  readonly args?: JsonValue;
}

/** Whether a hook is for an occurrence: everything that its matcher names must fit. */
export function matches({ matcher }: Hook, { sessionId, tool, args }: HookTarget): boolean {
  if (matcher === undefined) return true;
  if (matcher.sessionId !== undefined && matcher.sessionId !== sessionId) return false;
  if (matcher.tool !== undefined && matcher.tool !== tool) return false;
  if (matcher.pathPattern !== undefined) {
    const path = textOf(args, 'file_path') ?? textOf(args, 'path');
    if (path === undefined || !globExpression(matcher.pathPattern).test(path)) return false;
  }
  if (matcher.commandPattern !== undefined) {
    const command = textOf(args, 'command');
    if (command === undefined || !new RegExp(matcher.commandPattern).test(command)) return false;
  }
  return true;
}

function textOf(args: JsonValue | undefined, name: string): string | undefined {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return undefined;
  const value = (args as Readonly<Record<string, JsonValue>>)[name];
  return typeof value === 'string' ? value : undefined;
}

/** `*` is anything in one segment of a path, `**` anything, `?` one character of a segment. */
function globExpression(glob: string): RegExp {
  const source = glob.replace(/\*\*\/?|[*?]|[.+^${}()|[\]\\]/g, (found) => {
    if (found === '**/') return '(?:.*/)?';
    if (found === '**') return '.*';
    if (found === '*') return '[^/]*';
    return found === '?' ? '[^/]' : `\\${found}`;
  });
  return new RegExp(`^${source}$`, 's');
}
