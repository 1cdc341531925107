/**
 * Knows the environment variables that belong to a workspace. Their values stay with the host: facts hold names and
 * salted digests, and tools are handed the values.
 */
export interface WorkspaceEnv {
  /**
   * Names and values for a session's workspace. Called whenever they are compared with what a session has: it must be
   * quick and answer the same for the same.
   */
  variables(workspace: string | undefined): Readonly<Record<string, string>>;
}
