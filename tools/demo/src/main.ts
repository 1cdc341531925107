import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnModelServer } from '@perdure/testing';
import { problemsOf, shownFact, type ShownFact } from './evidence.js';
import { PROMPT, roundCount, script } from './model-script.js';
import { makeProject, type DemoPlace } from './project.js';
import { fromSources, startNode, startPerdure, type EndedProcess, type RunningProcess } from './run-process.js';

const SESSION = 'demo';

function say(text = ''): void {
  process.stdout.write(`${text}\n`);
}

function title(text: string): void {
  say(`\n── ${text} ${'─'.repeat(Math.max(4, 90 - text.length))}\n`);
}

const quote = (line: string): void => say(`   │ ${line}`);
const contentOf = (file: string): string | undefined => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);

async function runTests(place: DemoPlace): Promise<number | null> {
  return (await startNode(['--test'], place.project).ended).code;
}

/** Kills the process as soon as the tool has had its effect: it then waits a minute for its confirmation. */
async function killInTool({ child, ended }: RunningProcess, place: DemoPlace): Promise<EndedProcess> {
  let isOver = false;
  void ended.then(() => (isOver = true));
  while (!isOver && contentOf(place.channel)?.endsWith('\n') !== true) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  child.kill('SIGKILL');
  return ended;
}

function sessions(place: DemoPlace, ...args: readonly string[]): Promise<EndedProcess> {
  return startPerdure(['sessions', ...args], place.project).ended;
}

/** The facts by revision and type, with the place at which the first process died. */
function factLines(facts: readonly ShownFact[]): readonly string[] {
  return facts.flatMap(({ revision, type, payload }) => {
    const about = type === 'OwnershipTaken' ? payload['reason'] : type === 'RunEnded' ? payload['status'] : undefined;
    const line = `${String(revision).padStart(4)}  ${type}${about === undefined ? '' : ` (${String(about)})`}`;
    return about === 'owner-dead' ? ['      ── here the first process was killed ──', line] : [line];
  });
}

async function demonstrate(folder: string): Promise<readonly string[]> {
  title('An agent session that outlasts its process');
  const server = await spawnModelServer({ script, execArgv: fromSources });
  try {
    const place = makeProject(folder, server.url);
    const testsBefore = await runTests(place);
    say(`1. A small project with a test that fails is in ${place.project}.`);
    say(`2. A model server answers by a script on ${server.url}: no key, no service from outside.`);
    say(`3. perdure run "${PROMPT}"`);
    const started = startPerdure(['run', PROMPT, '--session', SESSION], place.project, quote);
    const killed = await killInTool(started, place);
    say(
      `4. The tool "announce" has told the team and waits for a confirmation. Here the process gets ${killed.signal}.`,
    );
    say('5. perdure resume');
    const resumed = await startPerdure(['resume'], place.project, quote).ended;
    const testsAfter = await runTests(place);
    say(`6. The test ${testsAfter === 0 ? 'passes' : 'fails'}. This is what is left of the two processes:`);

    const [transcript, events, verified, replayed] = await Promise.all([
      sessions(place, 'show', SESSION),
      sessions(place, 'events', SESSION, '--facts', '--json'),
      sessions(place, 'verify', SESSION),
      sessions(place, 'replay', SESSION, '--verify'),
    ]);
    title(`perdure sessions show ${SESSION}`);
    say(transcript.out.trimEnd());
    title(`perdure sessions events ${SESSION} --facts   (revision and type)`);
    const facts = events.out
      .trim()
      .split('\n')
      .map((line) => shownFact.parse(JSON.parse(line)));
    for (const line of factLines(facts)) say(line);
    title(`perdure sessions verify ${SESSION}`);
    say(`${verified.out}${verified.error}`.trimEnd());
    title(`perdure sessions replay ${SESSION} --verify`);
    say(`${replayed.out}${replayed.error}`.trimEnd());
    return problemsOf({
      testsBefore,
      testsAfter,
      killedBy: killed.signal,
      resumed: resumed.code,
      verified: verified.code,
      replayed: replayed.code,
      edited: contentOf(join(place.project, 'src/total.js')),
      written: contentOf(join(place.project, 'CHANGES.md')),
      announcements: (contentOf(place.channel) ?? '').split('\n').filter((line) => line !== ''),
      facts,
      requests: (await server.requests()).length,
      rounds: roundCount,
    });
  } finally {
    await server.close();
  }
}

function ownModel(): void {
  title('With a model of your own');
  say('perdure run "What does this project do?" --base-url http://localhost:11434/v1 --model-id llama3.2');
  say('  A key, when the endpoint needs one, is taken from PERDURE_API_KEY, or from --api-key-env NAME.');
  say('Or once and for all in perdure.config.json, or .ts or .mjs for tools of your own:');
  say('  { "baseUrl": "http://localhost:11434/v1", "modelId": "llama3.2",');
  say('    "permissions": { "allow": ["read", "list", "find", "grep", "edit(src/**)"] } }');
  say('In this repository `perdure` is: node --import tsx --conditions=@perdure/source packages/cli/src/main.ts');
}

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-demo-')));
try {
  const problems = await demonstrate(folder);
  ownModel();
  title(problems.length === 0 ? 'All of this was checked, and it holds' : 'Something is wrong');
  for (const problem of problems) say(`- ${problem}`);
  if (problems.length === 0) {
    say('The file was edited, every call was run once, the team was told once, no answer was asked for twice,');
    say('every byte of the record is what was written, and deciding it all again gives the same record.');
  }
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  if (process.argv.includes('--keep')) say(`\nEverything is left in ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
