import type { JsonValue, WireEvent } from '@perdure/events';

/** That a session which was handed work got on with it. It is told to those who watch then, and not stored. */
export interface ChildProgress {
  readonly taskId: string;
  /** The call that handed the work on. */
  readonly callId: string;
  readonly agent: string;
  readonly status: 'tool_completed' | 'turn_completed';
  /** As it goes on the wire. */
  readonly metadata: Readonly<Record<string, JsonValue>>;
}

export function progressOnWire({ taskId, callId, agent, status, metadata }: ChildProgress): WireEvent {
  const about = { task_id: taskId, session_id: taskId, tool_id: callId, agent };
  return { type: 'subagent_progress', payload: { ...about, status, metadata: { ...metadata } } };
}
