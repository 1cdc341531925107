import type { SystemBlock } from '@perdure/events';
import type { SystemBlockContext, SystemBlockSource } from '@perdure/plugin-api';
import type { Redaction } from '../secrets/redaction.js';
import { digestOf } from '../host/sha256.js';
import { refuseLater } from '../invoke/refuse-later.js';

/** A system prompt that is ready to be sent. */
export interface SystemPrompt {
  readonly blocks: readonly SystemBlock[];
  /** Block contents joined by blank lines; empty when there is nothing to say. */
  readonly text: string;
  readonly digest: string;
}

/**
 * Puts the blocks in an order that providers' caches like: what changes least first. The session's own block is last.
 */
export function composeSystem(
  instruction: readonly string[],
  sources: readonly SystemBlockSource[],
  context: SystemBlockContext,
  redaction: Pick<Redaction, 'redactText'>,
): SystemPrompt {
  const blocks: SystemBlock[] = [
    ...instruction.map((content, index): SystemBlock => {
      return { source: 'instruction', name: index === 0 ? 'agent' : `agent:${index}`, content };
    }),
    ...sources.flatMap((source) =>
      refuseLater(source.blocks(context)).map(({ name, content }): SystemBlock => ({
        source: 'plugin',
        name: `${source.name}/${name}`,
        content,
      })),
    ),
  ];
  if (context.workspace !== undefined) {
    blocks.push({ source: 'session', name: 'context', content: `Workspace: ${context.workspace}` });
  }
  return systemOf(blocks.map((block) => ({ ...block, content: redaction.redactText(block.content) })));
}

export function systemOf(blocks: readonly SystemBlock[]): SystemPrompt {
  const text = blocks
    .map(({ content }) => content.trim())
    .filter((content) => content !== '')
    .join('\n\n');
  const described = blocks.map(({ source, name, content }) => [source, name, content]);
  return { blocks, text, digest: digestOf(JSON.stringify(described)) };
}
