import type { Requirement } from './requirement.js';

/** What the design promises. */
export const designRequirements: readonly Requirement[] = [
  {
    id: 'P1',
    promise: 'A fact is published, and the effect that it announces starts, only after its commit.',
    due: 'kernel',
    tests: ['test/faults/kill.test.ts'],
  },
  {
    id: 'P2',
    promise: '`PromptAccepted` is committed before any model call; a repeated `promptId` returns the same turn.',
    due: 'kernel',
    tests: ['test/faults/kill.test.ts', 'test/session/prompts.test.ts'],
  },
  {
    id: 'P3',
    promise: "`ToolCallStarted` is committed before a tool's effect; a call is settled exactly once, whatever crashes.",
    due: 'kernel',
    tests: ['test/faults/kill.test.ts'],
  },
  {
    id: 'P4',
    promise: 'One owner at a time, fenced by epochs; input is never lost or reordered meanwhile. On SQLite.',
    due: 'kernel',
    tests: ['test/session/ownership.test.ts'],
  },
  {
    id: 'P4/nodes',
    promise: 'The same on every store, between machines.',
    due: 'nodes',
    tests: ['test/faults/nodes.test.ts', 'test/faults/wall-clock.test.ts', 'test/session/lapsed-lease.test.ts'],
  },
  {
    id: 'P5',
    promise:
      'State is a pure fold of the stream; without its caches, or with flipped ones, the state hash is the same.',
    due: 'kernel',
    tests: ['test/session/fold.test.ts'],
  },
  {
    id: 'P6',
    promise: 'Unknown facts of plugins are kept and ignored; unknown or newer core facts make the session read-only.',
    due: 'kernel',
    tests: ['packages/events/src/fact-registry.test.ts'],
  },
  {
    id: 'P7',
    promise: 'Losing a client never cancels; cancelling is a fact with an actor and a target.',
    due: 'kernel',
    tests: ['test/session/events.test.ts', 'test/session/prompts.test.ts'],
  },
  {
    id: 'P7/nodes',
    promise: 'Cancelling works from any node.',
    due: 'nodes',
    tests: ['test/faults/wall-clock.test.ts'],
  },
  {
    id: 'P8',
    promise:
      'Every model call and every effect pass one invoker each; no decision in a gate is a deny and leaves a fact.',
    due: 'control',
    tests: [
      'test/session/governance-matrix.test.ts',
      'test/session/nested-calls.test.ts',
      'test/session/host-calls.test.ts',
      'test/session/hooks.test.ts',
      'test/session/budget.test.ts',
    ],
  },
  {
    id: 'P9',
    promise:
      'An approval or question is durable before it is shown, bound to its call, answered once, survives restart.',
    due: 'control',
    tests: ['test/session/approvals.test.ts', 'test/session/questions.test.ts'],
  },
  {
    id: 'P10',
    promise: 'Budgets are reserved before a call over the whole tree of sessions, on any node, and survive restart.',
    due: 'control',
    tests: [
      'plugins/policy-budget/src/budget-state.test.ts',
      'test/session/tree-budget.test.ts',
      'test/session/tree-budget-conflicts.test.ts',
      'test/faults/tree-budget.test.ts',
    ],
  },
  {
    id: 'P11',
    promise: 'What the runtime computes and writes per step does not depend on the length of history.',
    due: 'kernel',
    tests: ['test/session/turn.test.ts'],
  },
  {
    id: 'P12',
    promise: 'Same inputs, same host environment: the same stream, byte for byte; replay names the first difference.',
    due: 'kernel',
    tests: ['test/replay/replay.test.ts'],
  },
  {
    id: 'P13',
    promise: 'One cursor: catch-up, then live, in one call, without a gap or a double, with an explicit `truncated`.',
    due: 'kernel',
    tests: ['test/session/events.test.ts'],
  },
  {
    id: 'P13/kafka',
    promise: 'The same for the topic.',
    due: 'kafka',
    tests: ['test/relay/relay.int.test.ts', 'test/relay/lost-replies.int.test.ts', 'test/relay/faults.int.test.ts'],
  },
  {
    id: 'P14',
    promise: 'A session stream is a hash chain over the stored bytes; a verifier names the first bad revision.',
    due: 'kernel',
    tests: ['packages/events/src/hash-chain.test.ts'],
  },
  {
    id: 'P15',
    promise: 'Changes take effect at step boundaries only; a running step keeps its view.',
    due: 'context',
    tests: [
      'test/session/changes-mid-step.test.ts',
      'test/session/compaction.test.ts',
      'test/session/mcp-failures.test.ts',
      'test/session/mcp-sources.test.ts',
    ],
  },
  {
    id: 'P16',
    promise: 'No registered secret is persisted or streamed.',
    due: 'kernel',
    tests: ['packages/core/src/secrets/redaction.test.ts', 'test/session/secrets.test.ts'],
  },
  {
    id: 'P16/context',
    promise: 'No detected credential is persisted or streamed.',
    due: 'context',
    tests: ['test/session/redaction.test.ts'],
  },
  {
    id: 'P17',
    promise: "A tenant's sessions have keys of their own that no other tenant can spell.",
    due: 'kernel',
    tests: ['packages/events/src/stream-name.test.ts'],
  },
  {
    id: 'P17/control',
    promise: "A tenant's budgets are its own: no other can name, read or draw on them.",
    due: 'control',
    tests: ['test/session/tree-budget.test.ts'],
  },
  {
    id: 'P17/kafka',
    promise: 'Servers, artifacts and relays refuse the sessions of another tenant.',
    due: 'kafka',
    tests: [],
    deferred: 'a server; relays are tested',
  },
  {
    id: 'P18',
    promise: 'A waiting or passivated session holds no memory; one process lists and serves 10,000 of them.',
    due: 'control',
    tests: ['test/session/waiting.test.ts', 'test/session/waiting-questions.test.ts', 'test/faults/waiting.test.ts'],
  },
  {
    id: 'P19',
    promise: 'A plugin that fails to load, start, answer or stop harms only itself, and the error names it.',
    due: 'kernel',
    tests: ['test/session/lifecycle.test.ts'],
  },
  {
    id: 'P20',
    promise: 'Every refusal is a typed error or a fact with a stable code.',
    due: 'kernel',
    tests: ['test/architecture/errors.test.ts'],
  },
];
