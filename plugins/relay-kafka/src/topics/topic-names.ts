/** The topics of a relay. */
export interface TopicNames {
  /** Every fact, never compacted. */
  readonly facts: string;
  /** What each session has come to, compacted. */
  readonly state: string;
  /** Facts that were too large for their place. */
  readonly deadLetters: string;
}

export function topicNames(prefix: string): TopicNames {
  return {
    facts: `${prefix}.session-events.v1`,
    state: `${prefix}.session-state.v1`,
    deadLetters: `${prefix}.dead-letters.v1`,
  };
}
