import pg from 'pg';

/**
 * A pool whose connections are waited for as long as others use them: only making one has a time limit. When one cannot
 * be made, all who wait are told so, rather than each after a time limit of its own.
 */
export class PatientPool {
  private readonly pool: pg.Pool;
  private readonly max: number;
  private used = 0;
  private waiting: { readonly go: () => void; readonly fail: (error: unknown) => void }[] = [];

  constructor(config: pg.PoolConfig & { readonly max: number }) {
    this.pool = new pg.Pool(config);
    this.max = config.max;
    // A connection that is lost while nobody uses it is replaced when it is needed.
    this.pool.on('error', () => undefined);
  }

  /** A connection for the caller alone, until it is released. Rejects with what hinders it from being made. */
  async connect(): Promise<pg.PoolClient> {
    await this.enter();
    try {
      return await this.pool.connect();
    } catch (error) {
      const { waiting } = this;
      this.waiting = [];
      for (const { fail } of waiting) fail(error);
      this.leave();
      throw error;
    }
  }

  /** One that is broken is not used again. */
  release(client: pg.PoolClient, isBroken: boolean): void {
    client.release(isBroken);
    this.leave();
  }

  end(): Promise<void> {
    return this.pool.end();
  }

  private async enter(): Promise<void> {
    if (this.used < this.max) this.used += 1;
    else await new Promise<void>((go, fail) => this.waiting.push({ go, fail }));
  }

  /** The place goes to the next one that waits. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.used -= 1;
    else next.go();
  }
}
