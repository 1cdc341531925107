import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BudgetAmount, BudgetFact } from '@perdure/events';
import { NOTHING, RESOURCES } from './amount.js';
import { Block } from './block.js';
import { evolveBudget, freeOf, noBudget, type BudgetState } from './budget-state.js';
import { grantModelCall, grantToolCall, type ModelCallNeed } from './grant.js';

const price = { input: 1_000_000, output: 3_000_000 };
const rules = { blockCalls: 4, minOutputTokens: 20 };
const limit = (most: number) => fc.option(fc.nat(most), { nil: undefined });
const limits = fc.record({ tokens: limit(5_000), micros: limit(9_000), calls: limit(30) }, { requiredKeys: [] });
const holder = fc.nat(3);

/** What sessions do, each on whatever node it is, in any order. */
const move = fc.oneof(
  fc.record({
    do: fc.constant('ask' as const),
    holder,
    estimated: fc.nat(200),
    output: fc.integer({ min: 1, max: 300 }),
  }),
  fc.record({ do: fc.constant('tool' as const), holder }),
  // Of each call a part of what it held is spent, or all.
  fc.record({ do: fc.constant('answer' as const), holder, part: fc.integer({ min: 0, max: 100 }) }),
  fc.record({ do: fc.constant('end' as const), holder }),
  fc.record({ do: fc.constant('repeat' as const), holder, back: fc.nat(5) }),
);

interface Session {
  blocks: Block[];
  under: { readonly block: Block; readonly callId: string; readonly amount: BudgetAmount } | undefined;
}

test('a budget is never over its limit, whatever sessions reserve, settle, release and repeat [P10]', () => {
  fc.assert(
    fc.property(limits, fc.array(move, { maxLength: 60 }), (chosen, moves) => {
      const set = Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined));
      let state = evolveBudget(noBudget, { type: 'BudgetLimitSet', payload: { limits: set } }, '0');
      const appended: BudgetFact[] = [];
      const sessions = Array.from({ length: 4 }, (): Session => ({ blocks: [], under: undefined }));
      let serial = 0;
      const append = (fact: BudgetFact): void => {
        const before = state;
        state = evolveBudget(state, fact, String(appended.push(fact)));
        for (const resource of RESOURCES) {
          const most = state.limits?.[resource];
          expect(state.held[resource]).toBeGreaterThanOrEqual(0);
          expect(state.spent[resource]).toBeGreaterThanOrEqual(before.spent[resource]);
          if (most !== undefined) expect(state.spent[resource] + state.held[resource]).toBeLessThanOrEqual(most);
        }
        expect(state.held).toEqual(sumOfOpen(state));
      };
      const endIdle = (session: Session): void => {
        for (const block of session.blocks.filter(({ isIdle }) => isIdle)) append(block.end('used'));
        session.blocks = session.blocks.filter(({ isIdle }) => !isIdle);
      };
      const hold = (session: Session, index: number, amount: BudgetAmount, unit: BudgetAmount): Block => {
        const [sessionId, callId] = [`s${index}`, `call-${++serial}`];
        const payload = { reservation: `${sessionId}:${callId}`, sessionId, callId, holder: 'h', amount, unit };
        append({ type: 'BudgetReserved', payload });
        const block = new Block(payload.reservation, sessionId, amount);
        session.blocks.push(block);
        return block;
      };
      for (const next of moves) {
        const session = sessions[next.holder] as Session;
        switch (next.do) {
          case 'ask': {
            if (session.under !== undefined) break;
            const need: ModelCallNeed = { estimatedTokens: next.estimated, maxOutputTokens: next.output, price };
            const last = session.blocks.at(-1);
            const amount = { tokens: next.estimated + next.output, micros: next.estimated + 3 * next.output, calls: 1 };
            if (last?.has(amount, freeOf(state)) === true) {
              session.under = take(last, `drawn-${++serial}`, amount);
              break;
            }
            endIdle(session);
            const grant = grantModelCall(freeOf(state), need, rules);
            if (grant.status === 'granted') {
              session.under = take(hold(session, next.holder, grant.amount, grant.unit), `c-${++serial}`, grant.unit);
            }
            break;
          }
          case 'tool': {
            if (session.blocks.at(-1)?.has({ ...NOTHING, calls: 1 }, freeOf(state)) !== true) {
              endIdle(session);
              const grant = grantToolCall(freeOf(state), rules);
              if (grant.status === 'denied') break;
              hold(session, next.holder, grant.amount, grant.unit);
            }
            if (state.limits?.calls !== undefined) session.blocks.at(-1)?.takeTool(`tool-${++serial}`);
            break;
          }
          case 'answer': {
            if (session.under === undefined) break;
            const { block, callId, amount } = session.under;
            const part = (value: number): number => Math.floor((value * next.part) / 100);
            block.settle(callId, { tokens: part(amount.tokens), micros: part(amount.micros), calls: 1 });
            session.under = undefined;
            break;
          }
          case 'end':
            endIdle(session);
            break;
          case 'repeat': {
            const fact = appended.at(-1 - next.back);
            // The same reservation again while it is open, or the same end again: of a batch that was sent twice.
            if (fact === undefined || fact.type === 'BudgetLimitSet') break;
            const isOpen = state.open.has(fact.payload.reservation);
            if (isOpen !== (fact.type === 'BudgetReserved')) break;
            const before = state;
            append(fact);
            expect(state).toBe(before);
          }
        }
      }
      for (const session of sessions) {
        if (session.under !== undefined) session.under.block.settle(session.under.callId, NOTHING);
        endIdle(session);
      }
      expect(state.held).toEqual(NOTHING);
      expect(state.open.size).toBe(0);
    }),
    { numRuns: 500 },
  );
});

function take(block: Block, callId: string, amount: BudgetAmount): NonNullable<Session['under']> {
  block.take(callId, { amount, maxOutputTokens: 1 });
  return { block, callId, amount };
}

function sumOfOpen({ open }: BudgetState): BudgetAmount {
  const sum = { tokens: 0, micros: 0, calls: 0 };
  for (const { amount } of open.values()) for (const resource of RESOURCES) sum[resource] += amount[resource];
  return sum;
}
