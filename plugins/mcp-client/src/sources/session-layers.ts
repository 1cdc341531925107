import type { SessionScope } from '@perdure/plugin-api';
import { ServerLayer } from './server-layer.js';

interface SessionLayer {
  readonly key: string;
  readonly layer: ServerLayer;
  /** The session itself is in this process. */
  isUsed: boolean;
  /** How many layers stand on this one. */
  above: number;
  parent: SessionLayer | undefined;
}

/**
 * The layers of the sessions of this process. A session without servers of its own and without a parent has none. One
 * that others stand on stays when its session goes, and ends with the last of them.
 */
export class SessionLayers {
  private readonly layers = new Map<string, SessionLayer>();

  constructor(private readonly global: ServerLayer) {}

  /** What a session sees. */
  of(session: SessionScope): ServerLayer {
    const known = this.layers.get(keyOf(session, session.sessionId));
    if (known === undefined && session.parent === null) return this.global;
    return this.enter(session).layer;
  }

  /** The layer of a session's own servers. */
  own(session: SessionScope): ServerLayer {
    return this.enter(session).layer;
  }

  /** The session is gone. Resolves when what nobody stands on any more has ended. */
  async release(session: SessionScope): Promise<void> {
    const known = this.layers.get(keyOf(session, session.sessionId));
    if (known === undefined) return;
    known.isUsed = false;
    await this.endUnused(known);
  }

  async dispose(): Promise<void> {
    const all = Array.from(this.layers.values(), ({ layer }) => [...layer.own.values()]).flat();
    this.layers.clear();
    await Promise.all(all.map((server) => server.dispose()));
  }

  private enter(session: SessionScope): SessionLayer {
    const entered = this.at(keyOf(session, session.sessionId));
    entered.isUsed = true;
    if (entered.parent === undefined && session.parent !== null) {
      entered.parent = this.at(keyOf(session, session.parent));
      entered.parent.above += 1;
      entered.layer.below = entered.parent.layer;
    }
    return entered;
  }

  private at(key: string): SessionLayer {
    const known = this.layers.get(key);
    if (known !== undefined) return known;
    const layer = new ServerLayer(this.global);
    const made: SessionLayer = { key, layer, isUsed: false, above: 0, parent: undefined };
    this.layers.set(key, made);
    return made;
  }

  private async endUnused(unused: SessionLayer): Promise<void> {
    if (unused.isUsed || unused.above > 0 || this.layers.get(unused.key) !== unused) return;
    this.layers.delete(unused.key);
    const servers = [...unused.layer.own.values()];
    await Promise.all(servers.map((server) => server.leave()));
    const { parent } = unused;
    if (parent === undefined) return;
    parent.above -= 1;
    await this.endUnused(parent);
  }
}

/** A parent is of the same tenant. */
function keyOf({ tenant }: SessionScope, sessionId: string): string {
  return JSON.stringify([tenant, sessionId]);
}
