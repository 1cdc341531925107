import { PerdureError, SANDBOX } from '@perdure/plugin-api';
import type { PerdureRuntime } from '@perdure/runtime';
import type { Settings } from '../config/settings.js';

/**
 * Who asks for commands on the command line is told at once when they cannot be closed in. Throws
 * PERDURE_SANDBOX_UNAVAILABLE that says what to do.
 */
export async function requireSandbox({ shellFlag }: Settings, runtime: PerdureRuntime): Promise<void> {
  if (shellFlag !== 'safe') return;
  const report = await runtime.services.container.find(SANDBOX)?.preflight();
  if (report?.usable === true) return;
  const issues = report?.issues ?? [];
  const told = issues.map(({ message, fixes }) => [message, fixes[0] ?? ''].join(' ').trim()).join(' ');
  const reason = told === '' ? 'no plugin provides a sandbox' : told.replace(/\.$/, '');
  throw new PerdureError('PERDURE_SANDBOX_UNAVAILABLE', { reason });
}
