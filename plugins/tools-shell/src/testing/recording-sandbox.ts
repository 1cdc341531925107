import { PerdureError, type Sandbox, type SandboxCommand } from '@perdure/plugin-api';

/** A sandbox that cannot be used, and remembers what it was asked to run. */
export function unusableSandbox(): Sandbox & { readonly asked: readonly SandboxCommand[] } {
  const asked: SandboxCommand[] = [];
  return {
    id: 'unusable',
    asked,
    preflight: () => Promise.resolve({ usable: false, issues: [] }),
    start: (command) => {
      asked.push(command);
      return Promise.reject(new PerdureError('PERDURE_SANDBOX_UNAVAILABLE', { reason: 'for this test' }));
    },
  };
}

/** A sandbox that says that it works, and runs nothing. */
export function usableSandbox(): Sandbox {
  return { ...unusableSandbox(), preflight: () => Promise.resolve({ usable: true, issues: [] }) };
}
