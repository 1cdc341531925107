import type { RuntimeOptions as CoreOptions } from '@perdure/core';
import type { PermissionRules } from '@perdure/policy-permission';

/** What a host may say of a runtime: the options of the core, and those of the default plugins. */
export interface RuntimeOptions extends CoreOptions {
  /** The database file of the default store; `perdure/perdure.db` in the user's state folder when absent. */
  readonly storePath?: string;
  /** The rules of the default policy. Lists that are given replace its own; see `@perdure/policy-permission`. */
  readonly permissions?: PermissionRules;
}
