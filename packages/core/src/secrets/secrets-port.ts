import { REDACTORS, type Secrets } from '@perdure/plugin-api';
import type { Container } from '../host/container.js';
import { Redaction } from './redaction.js';
import { SecretRegistry } from './secret-registry.js';

/** Secrets on their own, for what runs without a runtime. Throws PERDURE_CONFIGURATION. */
export function secretsOf(values: Readonly<Record<string, string>> = {}): Secrets {
  const secrets = new SecretRegistry(values);
  const redaction = new Redaction(secrets);
  return {
    resolve: (text, user) => secrets.resolveText(text, user),
    redact: (text) => redaction.redactText(text),
  };
}

/** The secrets as plugins reach them. Detectors count from when their plugins are set up. */
export function secretsPort(secrets: SecretRegistry, container: Container): Secrets {
  let known = container.get(REDACTORS);
  let redaction = new Redaction(secrets, known);
  return {
    resolve: (text, user) => secrets.resolveText(text, user),
    redact: (text) => {
      const redactors = container.get(REDACTORS);
      if (redactors !== known) {
        known = redactors;
        redaction = new Redaction(secrets, redactors);
      }
      return redaction.redactText(text);
    },
  };
}
