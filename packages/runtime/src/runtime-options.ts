import type { RuntimeOptions as CoreOptions } from '@perdure/core';
import type { ApprovalOptions } from '@perdure/policy-approval';
import type { PermissionRules } from '@perdure/policy-permission';
import type { RedactionOptions } from '@perdure/security-redaction';
import type { ShellOptions } from '@perdure/tools-shell';

/** What a host may say of a runtime: the options of the core, and those of the default plugins. */
export interface RuntimeOptions extends CoreOptions {
  /** The database file of the default store; `perdure/perdure.db` in the user's state folder when absent. */
  readonly storePath?: string;
  /** The rules of the default policy. Lists that are given replace its own; see `@perdure/policy-permission`. */
  readonly permissions?: PermissionRules;
  /**
   * What becomes of calls that the rules leave open. They wait for an answer when this is absent; see
   * `@perdure/policy-approval`. With `off`, and with an `ASKER` of the host's, nothing waits: where nobody can be asked
   * at once they are denied.
   */
  readonly approvals?: ApprovalOptions | 'off';
  /**
   * How commands are run; see `@perdure/tools-shell`. When this is absent, in a sandbox alone, and there is no tool for
   * them where none can be used. With `off` there is neither tool nor sandbox.
   */
  readonly shell?: ShellOptions | 'off';
  /**
   * What counts as a credential, beside the registered secrets; see `@perdure/security-redaction`. With `off` only
   * registered secrets are taken out.
   */
  readonly redaction?: RedactionOptions | 'off';
}
