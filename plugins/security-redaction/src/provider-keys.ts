import type { Finding } from '@perdure/plugin-api';
import { forEachMatch, type Detector } from './detector.js';
import { isRandom } from './entropy.js';

interface KeyFormat {
  readonly kind: string;
  /** Bounded in every repetition, and beginning with a text that is rare. */
  readonly pattern: string;
  readonly maxMatch: number;
  /** The format alone may turn up in ordinary text: what is found must look random too. */
  readonly isLoose?: true;
}

/** No letter or digit before it. */
const START = '(?<![A-Za-z0-9])';

/** Formats of keys as their providers publish them. */
const formats: readonly KeyFormat[] = [
  { kind: 'anthropic-key', pattern: 'sk-ant-[A-Za-z0-9_-]{24,200}', maxMatch: 207 },
  {
    kind: 'openai-key',
    pattern: `${START}sk-(?:proj-|svcacct-|admin-|or-)?[A-Za-z0-9_-]{20,250}`,
    maxMatch: 261,
    isLoose: true,
  },
  { kind: 'aws-access-key', pattern: `${START}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])`, maxMatch: 20 },
  { kind: 'gcp-key', pattern: 'AIza[A-Za-z0-9_-]{35}', maxMatch: 39 },
  { kind: 'gcp-token', pattern: 'ya29\\.[A-Za-z0-9_-]{20,1000}', maxMatch: 1_005 },
  { kind: 'gcp-client-secret', pattern: 'GOCSPX-[A-Za-z0-9_-]{28}', maxMatch: 35 },
  { kind: 'github-token', pattern: 'gh[pousr]_[A-Za-z0-9]{36,255}', maxMatch: 259 },
  { kind: 'github-token', pattern: 'github_pat_[A-Za-z0-9_]{22,255}', maxMatch: 266 },
  {
    kind: 'gitlab-token',
    pattern: 'gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[A-Za-z0-9_.-]{20,300}',
    maxMatch: 308,
  },
  { kind: 'slack-token', pattern: 'xox[abceoprs]-[A-Za-z0-9-]{10,250}', maxMatch: 255 },
  { kind: 'slack-token', pattern: 'xapp-[0-9]-[A-Za-z0-9-]{20,250}', maxMatch: 257 },
  {
    kind: 'slack-webhook',
    pattern: 'hooks\\.slack\\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,200}',
    maxMatch: 230,
  },
  { kind: 'stripe-key', pattern: '[sr]k_(?:live|test)_[A-Za-z0-9]{16,250}', maxMatch: 258 },
  { kind: 'stripe-webhook-secret', pattern: 'whsec_[A-Za-z0-9+/]{32,100}', maxMatch: 106 },
  { kind: 'npm-token', pattern: 'npm_[A-Za-z0-9]{36}', maxMatch: 40 },
  { kind: 'pypi-token', pattern: 'pypi-AgEI[A-Za-z0-9_-]{40,500}', maxMatch: 509 },
  { kind: 'huggingface-token', pattern: 'hf_[A-Za-z0-9]{30,64}', maxMatch: 67 },
  { kind: 'sendgrid-key', pattern: 'SG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{16,64}', maxMatch: 100 },
  { kind: 'twilio-key', pattern: `${START}SK[0-9a-f]{32}(?![0-9A-Za-z])`, maxMatch: 34 },
  { kind: 'telegram-token', pattern: `${START}[0-9]{8,10}:AA[A-Za-z0-9_-]{33}`, maxMatch: 46 },
  {
    kind: 'discord-token',
    pattern: `${START}[MNO][A-Za-z0-9_-]{23,28}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,40}`,
    maxMatch: 78,
  },
  { kind: 'groq-key', pattern: 'gsk_[A-Za-z0-9]{40,64}', maxMatch: 68 },
  { kind: 'xai-key', pattern: 'xai-[A-Za-z0-9]{60,100}', maxMatch: 104 },
  { kind: 'databricks-token', pattern: `${START}dapi[0-9a-f]{32}`, maxMatch: 36 },
  { kind: 'digitalocean-token', pattern: 'do[opr]_v1_[0-9a-f]{64}', maxMatch: 71 },
  { kind: 'shopify-token', pattern: 'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}', maxMatch: 38 },
  { kind: 'vault-token', pattern: 'hv[bsr]\\.[A-Za-z0-9_-]{24,300}', maxMatch: 304 },
  { kind: 'atlassian-token', pattern: 'ATATT3[A-Za-z0-9_=-]{50,300}', maxMatch: 306 },
  { kind: 'docker-token', pattern: 'dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,80}', maxMatch: 89 },
  { kind: 'grafana-token', pattern: 'glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}', maxMatch: 46 },
  { kind: 'linear-key', pattern: 'lin_api_[A-Za-z0-9]{32,64}', maxMatch: 72 },
  { kind: 'notion-token', pattern: 'ntn_[A-Za-z0-9]{40,64}', maxMatch: 68 },
  { kind: 'replicate-token', pattern: 'r8_[A-Za-z0-9]{37,40}', maxMatch: 43 },
  { kind: 'mailgun-key', pattern: `${START}key-[0-9a-z]{32}(?![0-9A-Za-z])`, maxMatch: 36, isLoose: true },
  { kind: 'age-key', pattern: 'AGE-SECRET-KEY-1[0-9A-Z]{58}', maxMatch: 74 },
  {
    kind: 'jwt',
    pattern: '(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}\\.[A-Za-z0-9_-]{8,4000}\\.[A-Za-z0-9_-]{16,1400}',
    maxMatch: 7_410,
  },
];

/** How each of the formats begins, or what is in it. */
const hint = new RegExp(
  [
    'sk-|[sr]k_|A(?:[KS]IA|BIA|CCA|Iza|TATT3|GE-S)|ya29|GOCSPX|g(?:h[pousr]_|ithub_pat_|l[a-z]{2,5}[-_]|sk_)',
    'x(?:ox|app-|ai-)|slack\\.com|whsec_|npm_|pypi-|hf_|SG\\.|SK[0-9a-f]|:AA|[MNO][\\w-]{23,28}\\.|dapi',
    'do[opr]_v|shp|hv[bsr]\\.|dckr_|lin_api|ntn_|r8_|key-|eyJ',
  ].join('|'),
);
const BITS = 3.4;
const all = new RegExp(formats.map(({ pattern }) => `(${pattern})`).join('|'), 'g');

/** Keys that are known by how they begin, in one pass over the text. */
export const providerKeys: Detector = {
  kind: 'provider-key',
  maxMatch: Math.max(...formats.map(({ maxMatch }) => maxMatch)),
  minMatch: 16,
  hint,
  find(text) {
    const found: Finding[] = [];
    forEachMatch(all, text, (match) => {
      const format = formats[match.findIndex((group, index) => index > 0 && group !== undefined) - 1];
      const [whole] = match;
      if (format === undefined || (format.isLoose === true && !isRandom(whole, BITS))) return;
      found.push({ start: match.index, end: match.index + whole.length, kind: format.kind });
    });
    return found;
  },
};
