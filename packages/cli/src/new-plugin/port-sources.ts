/** The sources of a port: its files, and what its package needs besides `@perdure/plugin-api`. */
export interface PortSources {
  /** Name of the token that is provided. */
  readonly token: string;
  /** What the plugin brings, for its README: one sentence. */
  readonly summary: string;
  /** How one goes on from here, for its README. */
  readonly nextStep: string;
  readonly needsEvents: boolean;
  readonly needsTesting: boolean;
  readonly files: ReadonlyMap<string, string>;
}
