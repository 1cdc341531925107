import { createHash } from 'node:crypto';

/** What providers take. */
const LONGEST = 64;
const HASH_DIGITS = 8;

/**
 * The names of a server's tools as models call them. A tool whose own name fits has the plain one; one whose name had
 * to be changed carries a digest of it, so that no two meet and no tool's name depends on which others there are.
 */
export function toolName(server: string, tool: string): string {
  const plain = `mcp__${server}__${tool}`;
  if (/^[A-Za-z0-9_-]+$/.test(tool) && plain.length <= LONGEST) return plain;
  const clean = `mcp__${server}__${tool.replace(/[^A-Za-z0-9_-]/g, '_')}`;
  const digest = createHash('sha256').update(tool).digest('hex').slice(0, HASH_DIGITS);
  return `${clean.slice(0, LONGEST - HASH_DIGITS - 1)}_${digest}`;
}
