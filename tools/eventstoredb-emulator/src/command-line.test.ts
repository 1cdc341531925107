import { describe, expect, test } from 'vitest';
import { HELP, parseCommandLine } from './command-line.js';

describe('the command line', () => {
  test('has defaults', () => {
    expect(parseCommandLine([])).toEqual({
      help: false,
      folder: undefined,
      port: 2113,
      controlPort: 0,
      tls: false,
      users: undefined,
      maxAppendBytes: 1_048_576,
      maxStreamsPerConnection: 100,
      waitsForDisk: true,
      endsWithInput: false,
    });
  });

  test('makes the first user the administrator', () => {
    const { users } = parseCommandLine(['--tls', '--user', 'admin:change:it', '--user', 'ana:a']);
    expect(users).toEqual({
      admin: { password: 'change:it', isAdministrator: true },
      ana: { password: 'a', isAdministrator: false },
    });
  });

  test.each([
    [['--port', 'x'], '--port'],
    [['--port', '70000'], '--port'],
    [['--max-append', '0'], '--max-append'],
    [['--max-streams', '-1'], '--max-streams'],
    [['--user', 'a:b'], '--tls'],
    [['--tls', '--user', 'a'], '--user'],
    [['--colour'], '--colour'],
  ])('%j is refused, and the message names %s', (args, name) => {
    expect(() => parseCommandLine(args)).toThrow(name);
  });

  test('is explained by --help, every option of it', () => {
    expect(parseCommandLine(['--help']).help).toBe(true);
    for (const option of [
      'folder',
      'port',
      'control-port',
      'tls',
      'user',
      'max-append',
      'max-streams',
      'no-disk-wait',
      'while-input',
    ]) {
      expect(HELP).toContain(`--${option}`);
    }
  });
});
