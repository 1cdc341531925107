import type { Requirement } from './requirement.js';

/** How sessions are run and kept. */
export const sessionRequirements: readonly Requirement[] = [
  {
    id: 'R1',
    promise: 'A session has id, metadata, model, history, system, queue, approvals and mutations for itself alone.',
    due: 'context',
    tests: ['test/session/separate-sessions.test.ts'],
  },
  {
    id: 'R2',
    promise: 'A prompt gives a handle at once; its end always resolves, with success or with an error that has a code.',
    due: 'context',
    tests: ['test/session/turn-handles.test.ts', 'test/session/lifecycle.test.ts', 'test/session/ownership.test.ts'],
  },
  {
    id: 'R3',
    promise: 'The message of a person is stored before a model is asked.',
    due: 'context',
    tests: ['test/session/order-of-answers.test.ts'],
  },
  {
    id: 'R4',
    promise: 'An answer that grows is kept as a draft.',
    due: 'context',
    tests: ['test/session/order-of-answers.test.ts'],
  },
  {
    id: 'R5',
    promise: 'Text, reasoning, calls and results keep the order in which the model gave them.',
    due: 'context',
    tests: ['test/session/order-of-answers.test.ts'],
  },
  {
    id: 'R6',
    promise: 'An answer becomes a message of the history when it is whole, and not before.',
    due: 'context',
    tests: ['test/session/order-of-answers.test.ts'],
  },
  {
    id: 'R7',
    promise: 'What was interrupted goes on from the draft and from how its actions stand.',
    due: 'context',
    tests: ['test/session/mutations.test.ts', 'test/faults/kill.test.ts'],
  },
  {
    id: 'R8',
    promise: 'One loop runs a session at a time.',
    due: 'context',
    tests: ['test/session/one-loop.test.ts'],
  },
  {
    id: 'R9',
    promise: 'Prompts and changes of env, plugins and model, and compaction, enter one queue and keep its order.',
    due: 'context',
    tests: ['test/session/one-loop.test.ts', 'test/session/changes-mid-step.test.ts'],
  },
  {
    id: 'R10',
    promise: 'Changes take effect between steps alone, those of plugins too; a step that runs keeps its view.',
    due: 'context',
    tests: ['test/session/changes-mid-step.test.ts'],
  },
  {
    id: 'R11',
    promise: "A session's own model goes before that of its agent.",
    due: 'context',
    tests: ['test/session/models.test.ts'],
  },
  {
    id: 'R12',
    promise: 'Models are instances that the host hands in; no text is ever turned into a model.',
    due: 'context',
    tests: ['test/session/models.test.ts'],
  },
  {
    id: 'R13',
    promise: 'Composer and executor know no place of storage, no agents and no transport; the composer writes nothing.',
    due: 'context',
    tests: ['test/architecture/reach.test.ts'],
  },
  {
    id: 'R14',
    promise: 'A run can be stopped, tries again what may pass, and recovers from a request that was too long.',
    due: 'context',
    tests: ['test/session/prompts.test.ts', 'test/session/provider-faults.test.ts', 'test/session/compaction.test.ts'],
  },
  {
    id: 'R15',
    promise:
      "By default a session's system is that of its agent at the moment: instruction, plugins, and its own context.",
    due: 'context',
    tests: ['test/session/system-prompt.test.ts'],
  },
  {
    id: 'R16',
    promise: 'A snapshot keeps the whole system with the session: no change of the agent overwrites it.',
    due: 'context',
    tests: ['test/session/system-prompt.test.ts'],
  },
  {
    id: 'R17',
    promise: 'Syncing makes the system anew in the place of a kept one; what `system()` says is what models are given.',
    due: 'context',
    tests: ['test/session/system-prompt.test.ts'],
  },
  {
    id: 'R18',
    promise: 'Messages have sequences that only grow, and each a revision that goes up by one with every change.',
    due: 'context',
    tests: ['test/session/order-of-answers.test.ts'],
  },
  {
    id: 'R19',
    promise: 'Files are replaced whole, synced and renamed; writers of several processes come one after the other.',
    due: 'context',
    tests: ['plugins/snapshots-files/src/durability.test.ts', 'plugins/store-sqlite/src/two-processes.test.ts'],
  },
];
