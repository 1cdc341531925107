import { PerdureError, type Sandbox, type SandboxReport } from '@perdure/plugin-api';
import { checkCommand } from './command/check-command.js';
import { holdPaths } from './command/held-paths.js';
import { launch } from './process/launch.js';
import { preflight, type Requirements } from './preflight/preflight.js';
import { findProgram } from './preflight/program.js';
import { processIdentity } from './view/identity.js';
import { systemView } from './view/system-view.js';

export interface BubblewrapOptions {
  /** Absolute path of bwrap; the usual folders of programs are looked through when absent. */
  readonly program?: string;
  /** Absolute paths that commands may read beside the programs of the system. */
  readonly readOnlyPaths?: readonly string[];
}

export function createBubblewrapSandbox(options: BubblewrapOptions = {}): Sandbox {
  const { readOnlyPaths = [] } = options;
  let usable: Promise<SandboxReport> | undefined;
  const requirements = (): Requirements => ({ program: options.program ?? findProgram(), readOnlyPaths });
  // A machine that is usable stays so; one that is not can be put right while the runtime goes on.
  const tryOut = async (): Promise<SandboxReport> => {
    usable ??= preflight(requirements());
    const report = await usable;
    if (!report.usable) usable = undefined;
    return report;
  };
  return {
    id: 'sandbox-bubblewrap',
    preflight: tryOut,
    start: async (command) => {
      const report = await tryOut();
      const { program } = requirements();
      if (!report.usable || program === undefined) throw unavailable(report);
      checkCommand(command);
      const held = await holdPaths(command);
      try {
        return await launch({ program, command, held, identity: processIdentity(), view: systemView(readOnlyPaths) });
      } finally {
        await held.close();
      }
    },
  };
}

function unavailable({ issues }: SandboxReport): PerdureError {
  const reason = issues.map(({ message, fixes }) => [message, fixes[0] ?? ''].join(' ').trim()).join(' ');
  return new PerdureError('PERDURE_SANDBOX_UNAVAILABLE', { reason: reason.replace(/\.$/, '') });
}
