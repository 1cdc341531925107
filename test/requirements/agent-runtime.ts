import type { Requirement } from './requirement.js';

/** What is seen of sessions, what agents and plugins live through, and what bounds them. */
export const agentRequirements: readonly Requirement[] = [
  {
    id: 'R20',
    promise: 'Messages, info and system are the same whatever keeps the session.',
    due: 'context',
    tests: ['test/session/separate-sessions.test.ts'],
  },
  {
    id: 'R21',
    promise: 'Who subscribes is told what comes from then on, unless it asks for more.',
    due: 'context',
    tests: ['test/session/agent-life.test.ts'],
  },
  {
    id: 'R22',
    promise: 'Mutations tell of messages, parts, deltas, turns and the session.',
    due: 'context',
    tests: ['test/session/mutations.test.ts'],
  },
  {
    id: 'R23',
    promise: 'Who was cut off begins again with the messages and a subscription behind them, and misses nothing.',
    due: 'context',
    tests: ['test/session/mutations.test.ts'],
  },
  {
    id: 'R24',
    promise:
      'A plugin is of its agent, not of a folder, and may bring tools, system, hooks, commands, models and a life.',
    due: 'context',
    tests: ['test/session/agent-life.test.ts'],
  },
  {
    id: 'R25',
    promise: 'A plugin that fails to start is left out alone.',
    due: 'context',
    tests: ['test/session/lifecycle.test.ts', 'test/session/first-use.test.ts'],
  },
  {
    id: 'R26',
    promise: 'The end of an agent unloads its plugins.',
    due: 'context',
    tests: ['test/session/agent-life.test.ts'],
  },
  {
    id: 'R27',
    promise: 'Tools for files and searches reach the workspace and nothing else.',
    due: 'context',
    tests: ['plugins/tools-files/src/root/rooting.test.ts', 'plugins/tools-files/src/root/workspace-path.test.ts'],
  },
  {
    id: 'R28',
    promise:
      'A command runs in a sandbox or not at all: it writes to the workspace and reads what the host names besides.',
    due: 'context',
    tests: ['test/session/shell.test.ts', 'plugins/sandbox-bubblewrap/src/read-only-paths.test.ts'],
  },
  {
    id: 'R29',
    promise: 'A command outside the sandbox runs when a person agreed to that very command.',
    due: 'context',
    tests: ['test/session/unrestricted.test.ts'],
  },
  {
    id: 'R30',
    promise: 'The core guesses no permission of a tool: whoever registers it says what it is, and policies decide.',
    due: 'context',
    tests: ['test/session/boundaries.test.ts'],
  },
  {
    id: 'R31',
    promise: 'An attachment may be any path of the host, and opens nothing to the tools for files.',
    due: 'context',
    tests: ['test/session/boundaries.test.ts'],
  },
  {
    id: 'R32',
    promise: 'Agents, sessions, stores and workspaces are the same on every system; only adapters ask which it is.',
    due: 'context',
    tests: ['test/architecture/platforms.test.ts'],
  },
  {
    id: 'R33',
    promise: 'The sandbox is an adapter that the host brings; no package installs what is for another system.',
    due: 'context',
    tests: ['test/architecture/platforms.test.ts', 'plugins/tools-shell/src/tools-shell.test.ts'],
  },
  {
    id: 'R34',
    promise: 'To wait for `ready()` is a choice: the first use of a session waits for its agent.',
    due: 'context',
    tests: ['test/session/agent-life.test.ts'],
  },
  {
    id: 'R35',
    promise: 'The end of an agent lets its sessions, plugins, workspace and commands go.',
    due: 'context',
    tests: ['test/session/agent-life.test.ts'],
  },
  {
    id: 'R36',
    promise:
      'Actions that are put off are kept; after a restart those that were at work are due again. On one machine.',
    due: 'surfaces',
    tests: [],
    deferred: 'a schedule of actions, which ends with its agent',
  },
  {
    id: 'R37',
    promise: 'Plugins bring routes to a server of the host, which stays open when an agent ends.',
    due: 'surfaces',
    tests: [],
    deferred: 'a server',
  },
  {
    id: 'R38',
    promise: 'Commands are closed in on macOS and Windows too, and terminals are adapters as well.',
    due: 'surfaces',
    tests: [],
    deferred: 'sandboxes for macOS and Windows, and terminals',
  },
];
