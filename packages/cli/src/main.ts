#!/usr/bin/env node
import { reasonOf } from '@perdure/plugin-api';
import { exitCodes } from './exit-code.js';
import { runCli } from './run-cli.js';
import { visible } from './terminal/visible.js';

const { stdin: input, stdout: out, stderr: error } = process;

// What a plugin throws where nobody waits for it must not end in a stack.
process.on('uncaughtException', (thrown) => {
  const detail = process.env['PERDURE_DEBUG'] === '1' ? thrown.stack : reasonOf(thrown);
  error.write(`error: ${visible(detail ?? '')}\n`, () => process.exit(exitCodes.failed));
});

// A command may wait for what another process will append, which does not keep this one alive.
setInterval(() => undefined, 60_000);
process.exit(await runCli(process.argv.slice(2), { input, out, error }, process.env));
