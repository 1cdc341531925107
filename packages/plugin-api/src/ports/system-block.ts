import type { SystemBlock } from '@perdure/events';

/**
 * Text that a plugin adds to the system prompt. It must be the same for the same context: facts of the day belong in
 * messages.
 */
export interface SystemBlockSource {
  readonly name: string;
  blocks(context: SystemBlockContext): readonly Pick<SystemBlock, 'name' | 'content'>[];
}

export interface SystemBlockContext {
  readonly agentId: string;
  readonly sessionId: string;
  readonly workspace: string | undefined;
}
