import { scriptByRound } from '@perdure/testing';

export const PROMPT = 'The test fails. Find out why, repair it, and tell the team.';

/** What the model answers, round by round: it explores, edits one file, writes another, and calls the slow tool. */
const rounds = [
  {
    text: 'I look at the project first.',
    calls: [
      { name: 'list', input: { path: '.' } },
      { name: 'grep', input: { query: 'total', path: '.' } },
    ],
  },
  {
    calls: [
      { name: 'read', input: { file_path: 'src/total.js' } },
      { name: 'read', input: { file_path: 'test/total.test.js' } },
    ],
  },
  {
    text: 'The loop leaves out the first price.',
    calls: [
      {
        name: 'edit',
        input: { file_path: 'src/total.js', edits: [{ old_text: 'let index = 1', new_text: 'let index = 0' }] },
      },
    ],
  },
  {
    calls: [{ name: 'write', input: { file_path: 'CHANGES.md', content: '- The total has the first price too.\n' } }],
  },
  { text: 'Now the team.', calls: [{ name: 'announce', input: { message: 'total() is repaired.' } }] },
  { text: 'The total has the first price too. CHANGES.md says so, and the team knows.' },
];

export const script = scriptByRound(rounds);
/** One request for each. */
export const roundCount = rounds.length;
