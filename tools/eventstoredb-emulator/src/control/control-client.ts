import type { FaultControl, ServerCounts } from '../emulator.js';

/** The faults of an emulator that is another process, by the address that it prints as `control`. */
export function controlAt(url: string): FaultControl {
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, { method, ...text });
    const answer = (await response.json()) as { readonly error?: string };
    if (!response.ok) throw new Error(answer.error ?? `${method} ${path} ended with ${response.status}`);
    return answer;
  };
  return {
    inject: async (rule) => void (await call('POST', '/faults', rule)),
    clear: async () => void (await call('DELETE', '/faults')),
    cutConnections: async () => void (await call('DELETE', '/connections')),
    setMembers: async (members) => void (await call('PUT', '/members', members)),
    counts: async () => (await call('GET', '/counts')) as ServerCounts,
  };
}
