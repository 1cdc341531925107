/** A route of the HTTP server. `path` is exact or ends in `/*`; bodies and answers are those of the web platform. */
export interface HttpRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  handle(request: Request): Promise<Response>;
}

/** A command of the `perdure` binary: `perdure <name> …`. */
export interface CliCommand {
  readonly name: string;
  readonly summary: string;
  /** Runs with the words after the name; resolves to the exit code. */
  run(args: readonly string[], io: CliStreams): Promise<number>;
}

export interface CliStreams {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
}

/** Where the runtime and its plugins report what no caller can be told. `data` holds ids and small scalars. */
export interface Logger {
  log(
    level: 'debug' | 'info' | 'warn' | 'error',
    message: string,
    data?: Readonly<Record<string, string | number>>,
  ): void;
}
