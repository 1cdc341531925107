/** Opens the folder, or whatever else stands for one, that an agent's tools work in. */
export interface Workspaces {
  /** The workspace's canonical name, as it is recorded. Throws PERDURE_SESSION_CONFIGURATION when it cannot be used. */
  resolve(workspace: string): string;

  /** Digest of all that is in it, `sha256:<64 hex>`: equal for equal names and contents. */
  digest(workspace: string): Promise<string>;
}
