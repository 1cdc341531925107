#!/usr/bin/env node
// npm links a command when it installs a workspace, and then the file must be there already: the built one is not.
import { existsSync } from 'node:fs';

const built = new URL('../dist/main.js', import.meta.url);
if (existsSync(built)) {
  await import(built.href);
} else {
  process.stderr.write('error: Perdure is not built yet.\n  npm run build\n');
  process.exitCode = 1;
}
