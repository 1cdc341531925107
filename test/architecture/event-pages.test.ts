import { relaySchemas } from '@perdure/events';
import { describe, expect, test } from 'vitest';
import { asyncApiPin } from './async-api.js';
import { definitions, SCHEMAS, schemaPins } from './event-schemas.js';
import { paths, readText } from './workspace.js';
import { WIRE_MAP, wireMapPin } from './wire-map.js';

const pins = [...schemaPins(), asyncApiPin(), wireMapPin()];

describe('pages of the catalogue', () => {
  test.each(pins.map((pin) => [pin.path, pin] as const))('%s is what the catalogue says', (path, pin) => {
    expect(readText(path), 'Run `npm run pins` when the change is meant.').toBe(pin.text);
  });

  test('the page of topics has a message for every fact, and refers to what is there', () => {
    const text = asyncApiPin().text;
    const page = JSON.parse(text) as {
      readonly channels: Readonly<Record<string, { readonly messages: Readonly<Record<string, unknown>> }>>;
      readonly components: { readonly messages: Readonly<Record<string, unknown>> };
    };
    const names = definitions.map(({ type, version }) => `${type}.v${version}`);
    expect(Object.keys(page.channels['sessionEvents']?.messages ?? {})).toEqual([...names, 'PluginFact']);
    const references = [...text.matchAll(/"\$ref": "([^"]+)"/g)].map(([, target = '']) => target);
    expect(references.length).toBeGreaterThan(2 * names.length);
    for (const target of references) {
      const [, file] = /^\.\/schemas\/(.+)$/.exec(target) ?? [];
      if (file !== undefined) expect(paths).toContain(`${SCHEMAS}/${file}`);
      const [, group, name = ''] = /^#\/(?:components\/)?(messages|channels)\/(.+)$/.exec(target) ?? [];
      if (group === 'messages') expect(page.components.messages).toHaveProperty([name]);
      else if (group === 'channels') expect(page.channels).toHaveProperty([name]);
      else expect(file, target).toBeDefined();
    }
  });

  test('the table of facts has the columns of a message, and the source', () => {
    const sql = readText('plugins/relay-kafka/sql/facts-table.sql');
    const columns = [...sql.matchAll(/^ {2}([a-z_]+) (?:text|bigint|integer|timestamp)/gm)].map(([, name]) => name);
    const members = Object.keys(relaySchemas['fact-message.v1'].shape);
    expect(new Set(columns)).toEqual(new Set(['source', ...members]));
  });

  test('the map of wire types links to schemas that are there', () => {
    const links = [...readText(WIRE_MAP).matchAll(/\]\(\.\.\/schemas\/([^)]+)\)/g)].map(([, file = '']) => file);
    expect(links).toHaveLength(definitions.length);
    for (const file of links) expect(paths).toContain(`${SCHEMAS}/${file}`);
  });
});
