import { startPostgresServer, type PostgresServer } from '@perdure/testing';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server that all tests share. */
    postgresUrl: string;
    /** The same server by TCP, with a password. */
    postgresTcpUrl: string;
    /** Another server, whose owner does not want it to be killed. */
    isForeignServer: boolean;
  }
}

let server: PostgresServer | undefined;

/** Starts one PostgreSQL for all tests of the store, unless PERDURE_POSTGRES_URL names one. */
export async function setup(project: TestProject): Promise<void> {
  const given = process.env['PERDURE_POSTGRES_URL'];
  if (given === undefined) server = await startPostgresServer();
  project.provide('isForeignServer', given !== undefined);
  project.provide('postgresUrl', server?.socketUrl ?? given ?? '');
  project.provide('postgresTcpUrl', server?.url ?? given ?? '');
}

export async function teardown(): Promise<void> {
  await server?.stop();
}
