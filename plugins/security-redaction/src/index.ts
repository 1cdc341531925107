export type { RedactionOptions } from './security-redaction.js';
export { securityRedaction, securityRedaction as default } from './security-redaction.js';
