import type { Sandbox, SandboxCommand, SandboxExit } from '@perdure/plugin-api';

/** What a command said and how it ended. */
export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: SandboxExit;
  readonly ms: number;
}

export async function runToEnd(sandbox: Sandbox, command: SandboxCommand): Promise<Ended> {
  const begun = performance.now();
  const running = await sandbox.start(command);
  const [stdout, stderr, exit] = await Promise.all([textOf(running.stdout), textOf(running.stderr), running.exit]);
  return { stdout, stderr, exit, ms: performance.now() - begun };
}

/** The first mebibyte. */
async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of stream) if (text.length < 1024 * 1024) text += Buffer.from(chunk).toString();
  return text;
}
