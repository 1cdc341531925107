import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { PerdureError, reasonOf, type Workspaces } from '@perdure/plugin-api';
import { createRoot } from './root/root.js';
import { workspaceDigest } from './workspace-digest.js';

/** Folders of this machine. A workspace's canonical name is its real path. */
export const localWorkspaces: Workspaces = {
  resolve: (workspace) => {
    if (workspace === '') throw refusal('it is empty');
    if (workspace.includes('\0')) throw refusal('it contains a NUL character');
    const path = resolve(workspace);
    try {
      const real = realpathSync.native(path);
      if (statSync(real).isDirectory()) return real;
    } catch (cause) {
      throw refusal(`"${path}" is not a folder that can be used`, cause);
    }
    throw refusal(`"${path}" is not a folder`);
  },
  digest: async (workspace) => {
    try {
      return await workspaceDigest(createRoot(workspace));
    } catch (cause) {
      throw refusal(`its digest could not be made (${reasonOf(cause)})`, cause);
    }
  },
};

function refusal(reason: string, cause?: unknown): PerdureError {
  return new PerdureError('PERDURE_SESSION_CONFIGURATION', { field: 'workspace', reason }, { cause });
}
