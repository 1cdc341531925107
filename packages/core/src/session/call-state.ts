import type {
  Answers,
  CallOrigin,
  EffectContract,
  Failure,
  GateDecision,
  JsonValue,
  PayloadOf,
  Question,
  QuestionExpiry,
  SettlementStatus,
} from '@perdure/events';

/** A person is asked about a call, or has answered. */
export interface CallApproval {
  readonly argumentDigest: string;
  readonly effect: EffectContract;
  readonly gates: readonly GateDecision[];
  readonly policy: string;
  readonly reason?: string;
  readonly suggestion?: string;
  readonly requestedAt: number;
  readonly expiresAt?: number;
  readonly onExpiry?: 'allow' | 'deny';
  readonly answer?: {
    readonly decision: 'allow' | 'deny';
    readonly by: string;
    readonly reason?: string;
    readonly isExpiry?: true;
  };
}

/** A person is asked what a call asks, or has answered. */
export interface CallQuestion {
  readonly argumentDigest: string;
  readonly title?: string;
  readonly questions: readonly Question[];
  readonly requestedAt: number;
  readonly expiresAt?: number;
  readonly onExpiry?: QuestionExpiry;
  /** Without answers when the person declined, or with `isExpiry` when nobody gave any in time. */
  readonly answer?: { readonly by: string; readonly answers?: Answers; readonly isExpiry?: true };
}

export interface CallState {
  readonly callId: string;
  readonly name: string;
  readonly origin: CallOrigin;
  /** The call of which a nested one is a part. */
  readonly parent?: string;
  /** The epoch in which a call was made that no answer holds. */
  readonly madeIn?: number;
  readonly input: JsonValue | undefined;
  readonly invalidInput: string | undefined;
  /** Absent when nobody was asked. */
  readonly approval?: CallApproval;
  /** Absent when the call asks nobody, or has not yet. */
  readonly question?: CallQuestion;
  readonly decision:
    | {
        readonly decision: 'allow' | 'deny';
        readonly failure: Failure | undefined;
        readonly effect: EffectContract;
        readonly argumentDigest: string;
        /** The call is never started: people are asked, and their answer settles it. */
        readonly hasQuestions?: true;
      }
    | undefined;
  readonly started:
    | {
        readonly attempt: number;
        readonly effect: EffectContract;
        readonly idempotencyKey: string;
        readonly epoch: number;
        readonly at: number;
      }
    | undefined;
  readonly settled: SettlementStatus | undefined;
  /** What a nested call came to. */
  readonly outcome?: CallOutcome;
}

/** What a call came to, as its settlement tells it. */
export type CallOutcome = Pick<PayloadOf<'ToolCallSettled'>, 'status' | 'output' | 'artifact' | 'files' | 'failure'>;
