// The last row: the process is killed in tool 10 of 20 and another goes on. What is left, and which tools ran twice.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { openPerdure } from '../lib/perdure.mjs';
import { FINAL, lookup, prose } from '../lib/work.mjs';

const ROUNDS = 20;
const CRASH = 10;

function tool(folder) {
  return async (input) => {
    appendFileSync(`${folder}/runs`, `${input.round}\n`);
    if (input.round === CRASH && !existsSync(`${folder}/crashed`)) {
      writeFileSync(`${folder}/crashed`, '');
      process.kill(process.pid, 'SIGKILL');
      await new Promise(() => undefined);
    }
    return lookup(input);
  };
}

/** Dies. */
export async function prepare(_, folder) {
  const subject = await openPerdure(folder, { tool: tool(folder) });
  await subject.turn('s', prose(`#rounds=${ROUNDS} `));
  return {};
}

export async function measure(_, folder) {
  const subject = await openPerdure(folder, { tool: tool(folder) });
  const session = await subject.agent.sessions.get('s');
  const before = (await session.messages()).items.length;
  const began = performance.now();
  const turn = await session.resume();
  const result = await turn.finished;
  const resumeMs = performance.now() - began;
  const after = (await session.messages()).items.length;
  await subject.close();
  const runs = readFileSync(`${folder}/runs`, 'utf8').trim().split('\n');
  const twice = runs.filter((round, index) => runs.indexOf(round) !== index);
  return {
    messagesLeft: before,
    resumed: result.text === FINAL,
    messagesAfter: after,
    ranTwice: twice.join(' '),
    resumeMs,
  };
}
