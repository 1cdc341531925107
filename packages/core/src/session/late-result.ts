import type { PayloadOf } from '@perdure/events';

/** How a result that came after its call was settled is told to the model, at the next step boundary. */
export function lateResultText(fact: PayloadOf<'LateResultReported'>): string {
  const what = fact.status === 'completed' ? JSON.stringify(fact.output ?? null) : (fact.error?.message ?? 'failed');
  return (
    `Late result of tool call ${fact.callId}, reported by a node that no longer runs this session: ` +
    `${fact.status}. ${what}\nThe call was settled before this came; the settlement stands.`
  );
}
