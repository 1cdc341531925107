/**
 * Runs commands in the sandbox for another process, as an ordinary user when it is started by root and told to be one.
 * All modules are loaded before: the user need not get at them.
 */
import type { SandboxCommand } from '@perdure/plugin-api';
import { createBubblewrapSandbox } from '../bubblewrap-sandbox.js';
import { runToEnd } from './run-to-end.js';

export interface CommandRequest {
  readonly id: number;
  readonly command: SandboxCommand;
}

const NOBODY = 65534;
if (process.argv[2] === 'ordinary' && process.geteuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}
const sandbox = createBubblewrapSandbox();
const answer = (message: object): void => void process.send?.(message);

process.on('message', ({ id, command }: CommandRequest) => {
  runToEnd(sandbox, command).then(
    (ended) => answer({ id, ended }),
    (error: Error) => answer({ id, error: { ...error, message: error.message } }),
  );
});
process.once('disconnect', () => process.exit());
void sandbox.preflight().then((report) => answer({ report }));
