import { z } from 'zod';

/** A stored fact as `perdure sessions events --facts --json` shows it. */
export const shownFact = z.looseObject({
  revision: z.int(),
  type: z.string(),
  payload: z.record(z.string(), z.unknown()),
});
export type ShownFact = z.output<typeof shownFact>;

/** Everything that the demonstration is judged by. */
export interface Evidence {
  /** Exit codes of the project's own tests. */
  readonly testsBefore: number | null;
  readonly testsAfter: number | null;
  /** How the first process ended. */
  readonly killedBy: NodeJS.Signals | null;
  readonly resumed: number | null;
  readonly verified: number | null;
  readonly replayed: number | null;
  /** Contents of files after the session; `undefined` for one that is not there. */
  readonly edited: string | undefined;
  readonly written: string | undefined;
  /** Lines that the slow tool left in the world outside. */
  readonly announcements: readonly string[];
  readonly facts: readonly ShownFact[];
  /** Requests that the model got, and those that it should get when no step is asked twice. */
  readonly requests: number;
  readonly rounds: number;
}

/** What is wrong, in words. Nothing is when the session went on as if its process had never died. */
export function problemsOf(evidence: Evidence): readonly string[] {
  const { facts } = evidence;
  const checks: readonly (readonly [boolean, string])[] = [
    [evidence.testsBefore !== 0, 'the test did not fail to begin with'],
    [evidence.killedBy === 'SIGKILL', `the first process was not killed but ended by ${String(evidence.killedBy)}`],
    [evidence.resumed === 0, `the resume ended with ${String(evidence.resumed)}`],
    [evidence.edited?.includes('let index = 0') === true, 'src/total.js was not edited'],
    [evidence.testsAfter === 0, 'the test fails still'],
    [evidence.written !== undefined, 'CHANGES.md was not written'],
    [evidence.announcements.length === 1, `the team was told ${evidence.announcements.length} times`],
    [evidence.requests === evidence.rounds, `the model was asked ${evidence.requests} times, not ${evidence.rounds}`],
    [evidence.verified === 0, 'the verification failed'],
    [evidence.replayed === 0, 'the replay found a difference'],
    [count(facts, 'RunStarted') === 2, 'there are not two runs'],
    [facts.at(-2)?.type === 'RunEnded' && facts.at(-2)?.payload['status'] === 'completed', 'the turn did not complete'],
  ];
  return [...checks.flatMap(([holds, problem]) => (holds ? [] : [problem])), ...callProblems(facts)];
}

/** Every call was started once and settled once, as completed. */
function callProblems(facts: readonly ShownFact[]): readonly string[] {
  const calls = new Set(facts.filter(({ type }) => type === 'ToolCallDecided').map(({ payload }) => payload['callId']));
  const problems = calls.size === 7 ? [] : [`there are ${calls.size} calls, not 7`];
  for (const callId of calls) {
    const own = facts.filter(({ payload }) => payload['callId'] === callId);
    const started = count(own, 'ToolCallStarted');
    if (started !== 1) problems.push(`the call ${String(callId)} was run ${started} times`);
    const settled = own.filter(({ type }) => type === 'ToolCallSettled').map(({ payload }) => payload['status']);
    if (settled.join() !== 'completed') problems.push(`the call ${String(callId)} was settled as "${settled.join()}"`);
  }
  return problems;
}

function count(facts: readonly ShownFact[], type: string): number {
  return facts.filter((fact) => fact.type === type).length;
}
