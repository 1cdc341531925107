/**
 * Runs commands that nobody vouches for, closed in: a command sees its workspace, the programs of the system and
 * nothing else of the machine. A sandbox that cannot hold that refuses; it never runs a command outside.
 */
export interface Sandbox {
  readonly id: string;

  /** Tries out whether commands can be run here. Never throws; the answer may be kept while the sandbox is usable. */
  preflight(): Promise<SandboxReport>;

  /**
   * Starts a command; resolves when it is closed in.
   *
   * Throws PERDURE_SANDBOX_UNAVAILABLE when this machine cannot close it in, PERDURE_SANDBOX_PATH when a path is not
   * what it was said to be, and PERDURE_INPUT_INVALID for a command that cannot be run anywhere.
   */
  start(command: SandboxCommand): Promise<SandboxedProcess>;
}

export interface SandboxReport {
  readonly usable: boolean;
  /** Why it is not usable; empty when it is. */
  readonly issues: readonly SandboxIssue[];
}

export interface SandboxIssue {
  /** Stable, in snake_case, such as `missing_command`. */
  readonly code: string;
  readonly message: string;
  /** What a person can do about it, each a sentence of its own. */
  readonly fixes: readonly string[];
}

export interface SandboxCommand {
  /** The program and its arguments. The program is looked for inside the sandbox. Its input is empty. */
  readonly argv: readonly string[];
  /** Real absolute path of the folder that the command may write to. It has the same path inside. */
  readonly workspace: string;
  /** Absolute path in the workspace. */
  readonly workingDirectory: string;
  /** All variables that the command sees, beside a `PATH`, `HOME`, `TMPDIR` and `LANG` of the sandbox. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the workspace can only be read; not when absent. */
  readonly readOnly?: boolean;
  /**
   * Absolute paths in the workspace that the command can neither see nor move, such as a folder of state. One that
   * does not exist is passed over, and can be made by the command.
   */
  readonly hidden?: readonly string[];
  readonly limits: SandboxLimits;
}

export interface SandboxLimits {
  /** Processes and threads at one time, all together. */
  readonly processes: number;
  /** Memory of each process. */
  readonly memoryBytes: number;
  /** Size of each file that is written. */
  readonly fileBytes: number;
  /** Processor time of each process. */
  readonly cpuSeconds: number;
  /** All that is kept in the temporary folder and the home folder, which end with the command. */
  readonly temporaryBytes: number;
}

export interface SandboxedProcess {
  /** Each can be read once. They end when nobody can write to them any more. */
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  /** Resolves when the command has ended and nothing that it started is left. Never rejects. */
  readonly exit: Promise<SandboxExit>;
  /** Ends the command and all that it started, also what detached itself; resolves when nothing of it is left. */
  kill(): Promise<void>;
}

/** How a command ended. Exactly one is not `null`. */
export interface SandboxExit {
  readonly code: number | null;
  /** Such as `SIGKILL`. A sandbox that only learns a code tells a death by signal as 128 and the signal's number. */
  readonly signal: string | null;
}
