import type { Requirement } from './requirement.js';

/** What hosts, and clusters of them, may rely on. */
export const extensionRequirements: readonly Requirement[] = [
  {
    id: 'A1',
    promise: 'A session has four opaque labels, in its hooks and saved forms too; those of a caller win on resume.',
    due: 'control',
    tests: ['test/session/changes.test.ts', 'test/session/hook-points.test.ts'],
  },
  {
    id: 'A2',
    promise:
      'A budget guard is asked before each model call and told after; a missing method allows, a failing check denies.',
    due: 'control',
    tests: ['test/session/budget.test.ts'],
  },
  {
    id: 'A3',
    promise: 'Three events of a cluster are told by the host and heard through ordinary hooks.',
    due: 'control',
    tests: ['test/session/cluster-events.test.ts'],
  },
  {
    id: 'A4',
    promise: 'Soft decisions, and thresholds that the host watches itself, are told as `budget_threshold_hit`.',
    due: 'control',
    tests: ['test/session/budget.test.ts', 'test/session/cluster-events.test.ts'],
  },
  {
    id: 'A5',
    promise: 'A passivation waits for its deadline, and then the session is let go.',
    due: 'control',
    tests: ['test/session/cluster-events.test.ts'],
  },
  {
    id: 'A6',
    promise: 'Equal inputs and an equal `HostEnv` give equal ids and times on any node; its test doubles are public.',
    due: 'control',
    tests: [
      'test/replay/replay.test.ts',
      'packages/plugin-api/src/deterministic-host-env.test.ts',
      'packages/runtime/src/host-env.test.ts',
    ],
  },
  {
    id: 'A7',
    promise: 'A run has a checkpoint behind each round of tools, none inside; any node goes on from it as another run.',
    due: 'control',
    tests: ['test/session/resume.test.ts'],
  },
  {
    id: 'A8',
    promise: 'Each limit of what is retained of runs is optional; none is no limit; strictly first in, first out.',
    due: 'control',
    tests: ['test/session/retention.test.ts'],
  },
  {
    id: 'A9',
    promise:
      'Options are a patch: merged, checked and resolved once; what is put together later reads the result alone.',
    due: 'context',
    tests: ['test/session/session-build.test.ts', 'test/session/lifecycle.test.ts'],
  },
  {
    id: 'A10',
    promise: 'A resource that a session cannot have is a typed error that names it, and no session is left behind.',
    due: 'context',
    tests: ['test/session/session-build.test.ts', 'test/session/hostile-plugins.test.ts'],
  },
  {
    id: 'A11',
    promise:
      'A session that is built at once starts nothing, takes nothing easier in its place, and no servers by option.',
    due: 'context',
    tests: ['test/session/session-build.test.ts'],
  },
  {
    id: 'A12',
    promise: 'One operation at a time changes a conversation; another is refused before anything is read.',
    due: 'control',
    tests: ['test/session/prompts.test.ts', 'test/session/commands.test.ts'],
  },
  {
    id: 'A13',
    promise: 'A stream holds the conversation until its turn ends, whether or not anyone reads it.',
    due: 'control',
    tests: ['test/session/events.test.ts'],
  },
  {
    id: 'A14',
    promise: 'Calls that the host makes itself need no conversation.',
    due: 'control',
    tests: ['test/session/host-calls.test.ts'],
  },
  {
    id: 'A15',
    promise: 'All calls for a turn share one frozen context with its signal and budget.',
    due: 'control',
    tests: ['packages/core/src/turn/invocation-context-of.test.ts', 'test/session/budget.test.ts'],
  },
  {
    id: 'A16',
    promise: 'Usage of a streamed answer is taken from its last frame; a stop by anyone ends the one call.',
    due: 'control',
    tests: ['test/session/budget.test.ts', 'test/session/prompts.test.ts'],
  },
  {
    id: 'A17',
    promise: 'Calls of models, parts of calls and calls of the host pass one tool invoker; tools get no registry.',
    due: 'control',
    tests: ['test/session/governance-matrix.test.ts'],
  },
  {
    id: 'A18',
    promise: 'A fact without a name on the wire does not compile; an envelope of an unknown type is kept whole.',
    due: 'context',
    tests: [
      'packages/events/src/variants.test.ts',
      'packages/events/src/wire.test.ts',
      'packages/events/src/envelope.test.ts',
    ],
  },
  {
    id: 'A19',
    promise: 'A save is one whole call, atomic or an error; what came before is read and never written.',
    due: 'context',
    tests: [
      'test/session/saving.test.ts',
      'plugins/snapshots-files/src/file-session-store.test.ts',
      'plugins/snapshots-files/src/durability.test.ts',
    ],
  },
  {
    id: 'A20',
    promise:
      'MCP servers: of all, inherited, private; a private one hides others for its session and its children alone.',
    due: 'context',
    tests: ['test/session/mcp-sources.test.ts'],
  },
  {
    id: 'A21',
    promise:
      'Programs that models write reach files, networks, processes and variables through the tool invoker alone.',
    due: 'surfaces',
    tests: [],
    deferred: 'the tool that runs programs',
  },
  {
    id: 'A22',
    promise:
      'Hosts extend by options, agent definitions, hooks, servers, stores, policies and skills, by no other path.',
    due: 'surfaces',
    tests: [],
    deferred: 'skills',
  },
];
