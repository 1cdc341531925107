import { labels, type Delegation, type Labels, type SessionKey, type SessionProfile } from '@perdure/events';
import {
  isPerdureError,
  PerdureError,
  type McpServerSetting,
  type SessionOptions,
  type SessionRetentionLimits,
  type Workspaces,
} from '@perdure/plugin-api';
import { checkTitle, isObject } from '../session/session-input.js';
import { resolveEnv, type AgentConfig } from './agent-options.js';
import { resolveRetention } from './retention.js';

/** A session's options, whole and checked. */
export interface SessionConfig {
  readonly key: SessionKey;
  readonly labels: Labels;
  readonly model: string | undefined;
  readonly workspace: string | undefined;
  /** What the caller says of it, alone. */
  readonly retention: SessionRetentionLimits;
  readonly env: Readonly<Record<string, string>>;
  readonly parent: string | undefined;
  /** The name of the definition that narrows the agent for it. */
  readonly agent: string | undefined;
  readonly title: string | undefined;
  readonly timezone: string | undefined;
  /** MCP servers that it has alone; absent without any. */
  readonly mcp?: Readonly<Record<string, McpServerSetting>>;
  /** Of a session that another one hands work to. */
  readonly child?: ChildConfig | undefined;
}

export interface ChildConfig {
  readonly root: string;
  readonly delegation: Delegation;
  readonly profile: SessionProfile;
}

/**
 * Checks a session's options. Throws PERDURE_SESSION_CONFIGURATION naming the field, before anything is opened.
 *
 * @param named what the caller says beside its options; an id that is among it must be one
 */
export function resolveSessionOptions(
  options: SessionOptions,
  named: Pick<SessionOptions, 'sessionId' | 'workspace'>,
  agent: AgentConfig,
  newId: () => string,
  workspaces: Workspaces | undefined,
): SessionConfig {
  if (!isObject(options)) throw sessionConfiguration('options', 'they are an object');
  const {
    sessionId,
    model,
    parent,
    title,
    timezone,
    workspace = agent.workspace,
    retentionLimits,
    agent: definition,
    env,
    mcp,
    ...others
  } = { ...options, ...named };
  const isOneMade = sessionId === undefined && !('sessionId' in named);
  if (!isOneMade) checkId(sessionId);
  // A member that is `undefined` is absent: options are a patch.
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined));
  const checked = labels.safeParse(given);
  if (!checked.success) {
    const issue = checked.error.issues[0];
    const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
    throw sessionConfiguration(
      unknown ?? issue?.path.join('.') ?? '',
      unknown === undefined ? (issue?.message ?? '') : 'there is no such option',
    );
  }
  if (model !== undefined && (typeof model !== 'string' || model === '')) {
    throw sessionConfiguration('model', 'it is the name of a model');
  }
  if (workspace !== undefined && typeof workspace !== 'string') {
    throw sessionConfiguration('workspace', 'it is a text');
  }
  const retention = resolveRetention(retentionLimits, sessionConfiguration);
  const id = sessionId ?? newId();
  if (parent !== undefined && (typeof parent !== 'string' || parent === '' || parent === id)) {
    throw sessionConfiguration('parent', 'it is the id of another session');
  }
  if (definition !== undefined && (typeof definition !== 'string' || definition === '')) {
    throw sessionConfiguration('agent', 'it is the name of a definition');
  }
  if (mcp !== undefined && !isObject(mcp)) throw sessionConfiguration('mcp', 'it is a record of servers');
  return {
    key: agent.tenant === undefined ? { id } : { tenant: agent.tenant, id },
    labels: checked.data,
    model,
    retention,
    env: resolveEnv(env, sessionConfiguration),
    parent,
    agent: definition,
    ...(mcp === undefined || Object.keys(mcp).length === 0 ? {} : { mcp }),
    title: title === undefined ? undefined : sessionTitle(title),
    timezone: timezone === undefined ? undefined : sessionTimezone(timezone),
    // An empty name is no workspace.
    workspace: workspace === undefined || workspace === '' ? undefined : (workspaces?.resolve(workspace) ?? workspace),
  };
}

function checkId(id: unknown): void {
  if (typeof id !== 'string' || id === '' || id.length > 200) {
    throw sessionConfiguration('sessionId', 'it has 1 to 200 characters');
  }
  if (id.trim() === '') throw sessionConfiguration('sessionId', 'it has nothing but white space');
}

function sessionTitle(title: unknown): string {
  try {
    return checkTitle(title);
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    throw sessionConfiguration('title', String(error.data['reason']));
  }
}

/** A timezone by its IANA name, as this process knows it. */
function sessionTimezone(timezone: unknown): string {
  try {
    if (typeof timezone === 'string') {
      Intl.DateTimeFormat('en', { timeZone: timezone });
      return timezone;
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw sessionConfiguration('timezone', 'it is the IANA name of a time zone, such as "Europe/Lisbon"');
}

export function sessionConfiguration(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_SESSION_CONFIGURATION', { field, reason });
}
