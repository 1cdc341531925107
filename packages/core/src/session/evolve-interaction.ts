import { openCalls } from './call-tree.js';
import type { EvolveHandlers } from './evolve.js';
import { withSideCall } from './evolve-call.js';
import { copyCall } from './state-copies.js';
import { updateCall } from './turn-update.js';

type InteractionFacts =
  | 'ApprovalRequested'
  | 'ApprovalResolved'
  | 'ApprovalRefused'
  | 'QuestionAsked'
  | 'QuestionAnswered'
  | 'QuestionRefused';

/** What people are asked about calls, and what they answer. */
export const evolveInteraction: Pick<EvolveHandlers, InteractionFacts> = {
  ApprovalRequested: (fact, state, place) => {
    const { callId, name: _, origin: __, parent: ___, input, ...about } = fact;
    return updateCall(withSideCall(state, fact), callId, (call) => {
      const asked = copyCall(call);
      asked.input = input;
      asked.invalidInput = undefined;
      asked.approval = { ...about, requestedAt: place.time };
      return asked;
    });
  },

  // The first answer counts, whoever else believed to have given one.
  ApprovalResolved: ({ callId, argumentDigest, ...answer }, state) =>
    updateCall(state, callId, (call) => {
      const { approval } = call;
      if (approval === undefined || approval.answer !== undefined) return call;
      if (approval.argumentDigest !== argumentDigest) return call;
      const answered = copyCall(call);
      answered.approval = { ...approval, answer };
      return answered;
    }),

  ApprovalRefused: (_, state) => state,

  QuestionAsked: (fact, state, place) => {
    const { callId, name: _, origin: __, parent, ...about } = fact;
    const whole = parent === undefined ? undefined : openCalls(state).find((call) => call.callId === parent);
    return updateCall(withSideCall(state, fact), callId, (call) => {
      const asked = copyCall(call);
      if (whole !== undefined) asked.input = whole.input;
      asked.question = { ...about, requestedAt: place.time };
      return asked;
    });
  },

  QuestionAnswered: ({ callId, argumentDigest, ...answer }, state) =>
    updateCall(state, callId, (call) => {
      const { question } = call;
      if (question === undefined || question.answer !== undefined) return call;
      if (question.argumentDigest !== argumentDigest) return call;
      const answered = copyCall(call);
      answered.question = { ...question, answer };
      return answered;
    }),

  QuestionRefused: (_, state) => state,
};
