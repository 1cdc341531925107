import type { AgentDefinition } from '@perdure/plugin-api';

const HANDED =
  'You work on one task that another agent handed to you. Nobody answers questions about it: decide for yourself. ' +
  'Your last answer is all that is passed on, so it must say everything that was asked for.';

/** The agents that there are without configuration. */
export const builtInAgents: readonly AgentDefinition[] = [
  {
    name: 'explore',
    description: 'Looks things up in files and tells what it found. It changes nothing.',
    readOnly: true,
    limits: { maxSteps: 50 },
    handed: HANDED,
    instruction: [
      'Find what was asked for. Search broadly first, then read what matters. Name files and lines. Say what you did ' +
        'not find.',
    ],
  },
  {
    name: 'plan',
    description: 'Looks at what there is and makes a plan in steps. It changes nothing.',
    readOnly: true,
    limits: { maxSteps: 50 },
    handed: HANDED,
    instruction: [
      'Look at what there is, then write a plan: the steps in order, what each changes, how to check it, and what is ' +
        'uncertain.',
    ],
  },
  {
    name: 'general',
    description: 'Does a piece of work from beginning to end, with all tools of the agent that hands it on.',
    handed: HANDED,
    instruction: ['Do the whole task, check the result, and tell what you did and what is left.'],
  },
];
