import type { McpServerStatus, Tools } from '@perdure/plugin-api';
import type { McpServer } from '../server/mcp-server.js';
import { toolOf } from '../tools/tool-of.js';

const none: Tools = {};

/**
 * The servers of one owner, in front of those of the layer below: all sessions', then each session's above, then the
 * session's own. A name hides the same name below, and nobody but the owner ends a server.
 */
export class ServerLayer {
  readonly own = new Map<string, McpServer>();
  private made: { readonly key: readonly unknown[]; readonly tools: Tools } = { key: [], tools: none };

  constructor(public below: ServerLayer | undefined) {}

  /** The servers that count, by name: a hidden one keeps its place and gives it to the one that hides it. */
  effective(): ReadonlyMap<string, McpServer> {
    const all = new Map(this.below?.effective());
    for (const [name, server] of this.own) all.set(name, server);
    return all;
  }

  /** The tools of the servers that count; the same object as long as they are the same. */
  tools(): Tools {
    if (this.own.size === 0 && this.below !== undefined) return this.below.tools();
    const servers = [...this.effective().values()];
    const key = servers.flatMap((server) => [server, server.offered]);
    if (key.length !== this.made.key.length || key.some((part, index) => part !== this.made.key[index])) {
      const tools = servers.flatMap((server) =>
        server.offered.tools.map((tool) => [tool.name, toolOf(server, tool)] as const),
      );
      this.made = { key, tools: tools.length === 0 ? none : Object.fromEntries(tools) };
    }
    return this.made.tools;
  }

  /** All servers, those below first. */
  list(effective = this.effective(), isOwn = true): McpServerStatus[] {
    const owner = this.below === undefined ? 'global' : isOwn ? 'session' : 'inherited';
    return [
      ...(this.below?.list(effective, false) ?? []),
      ...Array.from(this.own, ([name, server]) => server.status(owner, effective.get(name) !== server)),
    ];
  }
}
