import {
  isHookEvent,
  PerdureError,
  type BudgetGuard,
  type Hook,
  type HookConfig,
  type HookEvent,
  type HookHandler,
  type HookMatcher,
  type SlashCommand,
} from '@perdure/plugin-api';
import { z } from 'zod';
import { checkCommand } from '../commands/check-command.js';
import { AgentView } from './agent-view.js';
import type { VariableValues } from './variable-values.js';

const matcherShape = z.strictObject({
  tool: z.string().exactOptional(),
  pathPattern: z.string().exactOptional(),
  commandPattern: z.string().refine(isExpression, 'it is no regular expression').exactOptional(),
  sessionId: z.string().exactOptional(),
});

const configShape = z.strictObject({
  priority: z.number().exactOptional(),
  timeoutMs: z.int().positive().exactOptional(),
  asyncExecution: z.boolean().exactOptional(),
  maxRetries: z.int().nonnegative().max(10).exactOptional(),
});

/**
 * What a host adds to one session in this process, beside what its agent has. It is code, so no fact holds it: whoever
 * resumes the session elsewhere brings it along. A step keeps what was there when it began.
 */
export class SessionAdditions {
  private readonly hooks = new Map<string, Hook>();
  readonly commands = new Map<string, SlashCommand>();
  private guard: BudgetGuard | null | undefined;
  private made: { readonly from: AgentView; readonly view: AgentView } | undefined;

  constructor(
    /** The values of the session's variables. */
    readonly variables: VariableValues,
  ) {}

  /** Throws PERDURE_INPUT_INVALID. A hook of the same id is replaced. */
  registerHook<Event extends HookEvent>(
    id: string,
    event: Event,
    matcher: HookMatcher | null | undefined,
    config: HookConfig | null | undefined,
    handler: HookHandler<Event> | null | undefined,
  ): void {
    if (typeof id !== 'string' || id === '') throw invalid('id', 'it is a text');
    if (!isHookEvent(event)) throw invalid('event', `there is no event "${String(event)}"`);
    if (handler !== null && handler !== undefined && typeof handler !== 'function') {
      throw invalid('handler', 'it is a function');
    }
    this.hooks.set(id, {
      id,
      event,
      matcher: checked('matcher', matcherShape, matcher ?? {}),
      config: checked('config', configShape, config ?? {}),
      ...(handler ? { handler: handler as unknown as HookHandler } : {}),
    });
    this.made = undefined;
  }

  /** Whether there was one. */
  unregisterHook(id: string): boolean {
    this.made = undefined;
    return this.hooks.delete(id);
  }

  get hookCount(): number {
    return this.hooks.size;
  }

  /** `null` is no guard at all. Throws PERDURE_INPUT_INVALID. */
  setBudgetGuard(guard: BudgetGuard | null): void {
    if (typeof guard !== 'object') throw invalid('guard', 'it is an object or null');
    this.guard = guard;
    this.made = undefined;
  }

  /** Throws PERDURE_INPUT_INVALID. A command of the same name is replaced. */
  registerCommand(command: SlashCommand): void {
    checkCommand(command, invalid);
    this.commands.set(command.name, command);
  }

  /** Whether there was one. */
  unregisterCommand(name: string): boolean {
    return this.commands.delete(name);
  }

  /** The agent with what was added. */
  view(agent: AgentView): AgentView {
    if (this.hooks.size === 0 && this.guard === undefined) return agent;
    if (this.made?.from !== agent) {
      const { parts } = agent;
      const budgetGuard = this.guard === undefined ? parts.budgetGuard : (this.guard ?? undefined);
      const hooks = [...parts.hooks, ...this.hooks.values()];
      this.made = { from: agent, view: new AgentView({ ...parts, hooks, budgetGuard }) };
    }
    return this.made.view;
  }
}

function isExpression(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}

function checked<Schema extends z.ZodType>(field: string, shape: Schema, value: unknown): z.output<Schema> {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw invalid([field, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'not valid');
}

function invalid(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_INPUT_INVALID', { field, reason });
}
