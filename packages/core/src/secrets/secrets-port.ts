import { REDACTORS, type Secrets } from '@perdure/plugin-api';
import type { Container } from '../host/container.js';
import { Redaction } from './redaction.js';
import type { SecretRegistry } from './secret-registry.js';

/** The secrets as plugins reach them. Detectors count from when their plugins are set up. */
export function secretsPort(secrets: SecretRegistry, container: Container): Secrets {
  return {
    resolve: (text, user) => secrets.resolveText(text, user),
    redact: (text) => new Redaction(secrets, container.get(REDACTORS)).redactText(text),
  };
}
