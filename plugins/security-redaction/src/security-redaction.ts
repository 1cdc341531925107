import { definePlugin, PerdureError, REDACTORS } from '@perdure/plugin-api';
import { z } from 'zod';
import { credentialRedactor, detectors, type DetectorGroup } from './credential-redactor.js';
import type { Detector } from './detector.js';
import { hostDetector, PatternRefused, type HostPattern } from './host-pattern.js';
import { version } from './version.js';

const groups = Object.keys(detectors) as [DetectorGroup, ...DetectorGroup[]];

const config = z.strictObject({
  /** Sorts of credentials that are not looked for. */
  without: z.array(z.enum(groups)).default([]),
  /** Texts that are no credentials although they look like one: exactly these. */
  allow: z.array(z.string().min(1)).max(1_000).default([]),
  /** Further patterns. They are regular expressions without groups, in which each repetition has an end. */
  patterns: z
    .array(
      z.strictObject({
        kind: z.string().regex(/^[a-z0-9-]{1,40}$/, 'lower-case letters, digits and "-"'),
        pattern: z.string().min(1).max(1_000),
        ignoreCase: z.boolean().optional(),
      }),
    )
    .max(100)
    .default([]),
});

export type RedactionOptions = z.input<typeof config>;

/** Finds credentials in everything that sessions would keep or show, and takes them out. */
export const securityRedaction = definePlugin({
  name: 'security-redaction',
  api: 1,
  version,
  config: config.prefault({}),
  provides: [REDACTORS],
  setup: ({ config: { without, allow, patterns }, provide }) => {
    const added = patterns.map(detectorOf);
    provide(REDACTORS, credentialRedactor({ without, added, allowed: allow }));
    return {};
  },
});

function detectorOf(pattern: HostPattern, index: number): Detector {
  try {
    return hostDetector(pattern);
  } catch (error) {
    if (!(error instanceof PatternRefused)) throw error;
    const field = `security-redaction.patterns.${index}.pattern`;
    throw new PerdureError('PERDURE_CONFIGURATION', { field, reason: error.message }, { cause: error });
  }
}
