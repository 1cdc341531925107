import { isAbsolute, normalize } from 'node:path';
import { z } from 'zod';

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const GIBIBYTE = 1024 * MEBIBYTE;
const MINUTE = 60_000;

/** Names of variables that hold secrets by all custom. They are not handed in even when they are asked for. */
const SECRET_NAME = /TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|_AUTH$|^SSH_AUTH/i;

const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable')
  .refine((name) => !name.startsWith('LD_'), 'variables of the loader are not handed in')
  .refine((name) => !SECRET_NAME.test(name), 'a variable that is named as secrets are is not handed in');

const hiddenPath = z
  .string()
  .refine(
    (path) => path !== '' && normalize(path) === path && !/^\.\.?(?:\/|$)|\/$|\0/.test(path),
    'must be a path in the workspace, such as .state, or an absolute one',
  );

const amount = z.int().positive();

const limits = z.strictObject({
  /** Processes and threads at one time. */
  processes: amount.default(512),
  /** Memory of each process. */
  memoryBytes: amount.default(4 * GIBIBYTE),
  /** Size of each file. */
  fileBytes: amount.default(2 * GIBIBYTE),
  /** Processor time of each process. */
  cpuSeconds: amount.default(600),
  /** The temporary folder and the home folder together. */
  temporaryBytes: amount.default(512 * MEBIBYTE),
});

export const shellConfiguration = z
  .strictObject({
    /**
     * `safe`: commands run in the sandbox only. `unrestricted`: a model may ask for a command to run outside, for a
     * reason. `off`: there is no tool.
     */
    mode: z.enum(['safe', 'unrestricted', 'off']).default('safe'),
    /** Absolute path of the shell, which must take a command after `-c`. */
    shell: z.string().refine(isAbsolute, 'must be an absolute path').default('/bin/sh'),
    /** Variables of the runtime's environment that commands see. */
    environment: z.array(variableName).default([]),
    /** Further variables and their values. */
    variables: z.record(variableName, z.string().regex(/^[^\0]*$/, 'must not contain a NUL character')).default({}),
    /** What becomes of the tool where no sandbox can be used: it is there and refuses, or there is none. */
    withoutSandbox: z.enum(['refuse', 'leave-out']).default('refuse'),
    /**
     * Files and folders that commands in the sandbox cannot see: paths in each workspace, or absolute paths, which are
     * hidden in the workspaces that they are in.
     */
    hidden: z.array(hiddenPath).default([]),
    /** Time for a command that asks for none, and the most that one can ask for. */
    timeoutMs: amount.default(2 * MINUTE),
    maxTimeoutMs: amount.max(24 * 60 * MINUTE).default(10 * MINUTE),
    /** Bytes that are kept of stdout, and as many of stderr. */
    outputBytes: z
      .int()
      .min(KIBIBYTE)
      .max(64 * MEBIBYTE)
      .default(256 * KIBIBYTE),
    limits: limits.prefault({}),
  })
  .refine(({ timeoutMs, maxTimeoutMs }) => timeoutMs <= maxTimeoutMs, {
    path: ['timeoutMs'],
    message: 'must not be more than maxTimeoutMs',
  });
export type ShellConfiguration = z.output<typeof shellConfiguration>;
export type ShellOptions = z.input<typeof shellConfiguration>;
