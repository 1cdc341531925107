import { afterAll, beforeAll, expect, test } from 'vitest';
import { scriptByRound, startModelServer, type ModelServer } from '@perdure/testing';
import { bundledPlugin, CliPlace } from './cli-process.js';

const questions = {
  title: 'Before I go on',
  questions: [
    {
      id: 'where',
      question: 'Where to?',
      kind: 'single_select',
      options: [{ value: 'here', label: 'Right here' }, { value: 'there' }],
    },
    {
      id: 'tell',
      question: 'Who is told?',
      kind: 'multi_select',
      options: [{ value: 'team' }, { value: 'office' }],
      allow_free_text: true,
      max: 2,
    },
    { id: 'note', question: 'Why?', kind: 'text', required: false },
  ],
};
const rounds = scriptByRound([
  {
    calls: [
      { name: 'write', input: { file_path: 'a.txt', content: 'a' } },
      { name: 'write', input: { file_path: 'b.txt', content: 'b' } },
    ],
  },
  { text: 'As you say.' },
]);

let server: ModelServer;
let place: CliPlace;
beforeAll(async () => {
  place = (await CliPlace.builder())();
  const asking = [
    {
      when: { userTextContains: 'ask me', toolResults: 0 },
      answer: { calls: [{ name: 'ask_user', input: questions }] },
    },
    { when: { userTextContains: 'ask me' }, answer: { text: 'As you say.' } },
  ];
  server = await startModelServer({ script: { rules: [...asking, ...rounds.rules] } });
  place.write(
    'workspace/perdure.config.mjs',
    `import policyApproval from '${await bundledPlugin('policy-approval')}';
     export default { baseUrl: '${server.url}', modelId: 'small-1', plugins: [policyApproval] };`,
  );
}, 60_000);
afterAll(async () => {
  await server.close();
  place.remove();
});

async function pending(
  session: string,
  count: number,
): Promise<readonly { readonly id: string; readonly tool: string }[]> {
  for (;;) {
    const { code, out } = await place.run(['interactions', session, '--json']);
    const found = code === 0 ? (JSON.parse(out) as { id: string; tool: string }[]) : [];
    if (found.length === count) return found;
  }
}

test('calls that wait are shown, and answered from other processes; the run goes on', { timeout: 60_000 }, async () => {
  const run = place.start(['run', 'write it', '--session', 's']);
  const [first, second] = await pending('s', 2);
  expect((await place.run(['interactions', 's'])).out).toContain('write a.txt');
  const unnamed = await place.run(['approve', 's']);
  expect(unnamed.code).toBe(2);
  expect(unnamed.error).toContain(second?.id);
  expect(await place.run(['deny', 's', second?.id ?? '', '--reason', 'not b', '--by', 'ada'])).toMatchObject({
    code: 0,
  });
  const late = await place.run(['approve', 's', second?.id ?? '', '--by', 'bob']);
  expect(late.code).not.toBe(0);
  expect(late.error).toContain('answered by "ada"');
  expect((await place.run(['approve', 's', '--json'])).out).toContain(`"id":"${first?.id}"`);
  const ended = await run.ended;
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.out).toContain('As you say.');
  expect(ended.error).toContain('not b');
  expect((await place.run(['interactions', 's', '--json'])).out.trim()).toBe('[]');
});

test('a turn that waits in no process is answered, and goes on when it is resumed', { timeout: 60_000 }, async () => {
  const run = place.start(['run', 'write it', '--session', 'left']);
  const both = await pending('left', 2);
  run.child.kill('SIGKILL');
  await run.ended;
  for (const { id } of both) expect(await place.run(['approve', 'left', id])).toMatchObject({ code: 0 });
  const resumed = await place.run(['resume', 'left']);
  expect(resumed).toMatchObject({ code: 0 });
  expect(resumed.out).toContain('As you say.');
});

test('questions of a model are shown, and answered from another process', { timeout: 120_000 }, async () => {
  const run = place.start(['run', 'ask me', '--session', 'asked']);
  const [question] = await pending('asked', 1);
  const shown = await place.run(['interactions', 'asked']);
  expect(shown.out).toContain('ask_user asks  Before I go on');
  expect(shown.out).toContain('  where: Where to?  (one of)\n    here  Right here\n    there');
  expect(shown.out).toContain('  tell: Who is told?  (at most 2 of, or a text of your own)');
  expect(shown.out).toContain('  note: Why?  (a text, may be left out)');
  const answer = (...answers: string[]) =>
    place.run(['answer', 'asked', '--by', 'ada', '--json', ...answers.flatMap((each) => ['--answer', each])]);
  expect((await place.run(['answer', 'asked'])).code).toBe(2);
  const nowhere = await answer('where=nowhere', 'tell=team');
  expect(nowhere.code).not.toBe(0);
  expect(nowhere.error).toContain('response.answers.where');
  run.child.kill('SIGKILL');
  await run.ended;
  const last = await answer('where=here', 'tell=team', 'tell=a = b');
  expect(JSON.parse(last.out)).toEqual({
    id: question?.id,
    answers: { where: 'here', tell: ['team', 'a = b'] },
    left: 0,
  });
  const named = await place.run(['answer', 'asked', question?.id ?? '', '--answer', 'where=there']);
  expect(named.error).toContain('was answered by');
  const resumed = await place.run(['resume', 'asked']);
  expect(resumed).toMatchObject({ code: 0 });
  expect(resumed.out).toContain('As you say.');
});

test('a turn is stopped from another process', { timeout: 60_000 }, async () => {
  const run = place.start(['run', 'write it', '--session', 'stopped']);
  await pending('stopped', 2);
  expect(await place.run(['stop', 'stopped', '--reason', 'enough'])).toMatchObject({ code: 0 });
  expect((await run.ended).code).toBe(1);
  expect((await place.run(['stop', 'stopped'])).error).toContain('no turn runs');
});

test('runs are listed, and commands answered without a model', { timeout: 60_000 }, async () => {
  const before = server.requests.length;
  const help = await place.run(['run', '/tools', '--session', 'commanded']);
  expect(help).toMatchObject({ code: 0 });
  expect(help.out.split('\n')).toContain('write');
  expect(server.requests).toHaveLength(before);
  expect((await place.run(['runs', 'commanded'])).error).toContain('no runs');
  const unknown = await place.run(['run', '/wat', '--session', 'commanded']);
  expect(unknown.code).not.toBe(0);
  expect(unknown.error).toContain('/wat');
  const listed = await place.run(['runs', 's']);
  expect(listed.out).toMatch(/^ID .*\n.* completed +\d+ +write it\n$/);
  const [run] = JSON.parse((await place.run(['runs', 's', '--json'])).out) as { id: string; status: string }[];
  expect(run).toMatchObject({ status: 'completed' });
});
