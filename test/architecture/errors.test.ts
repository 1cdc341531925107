import { describe, expect, test } from 'vitest';
import { errorTable } from '@perdure/plugin-api';
import { unknownCodes, unusedCodes } from './error-codes.js';
import { ERROR_PAGE, errorPage } from './error-page.js';
import { files, readText } from './workspace.js';

const invented = ['PERDURE', 'INVENTED'].join('_');

describe('error codes', () => {
  test('the scan catches a code that the table lacks', () => {
    const path = 'packages/core/src/planted.ts';
    expect(unknownCodes([{ path, text: `throw new PerdureError('${invented}');` }])).toEqual([`${path}: ${invented}`]);
  });

  test('the scan knows variables of the environment and beginnings of codes', () => {
    const path = 'packages/cli/src/planted.ts';
    expect(unknownCodes([{ path, text: `env['PERDURE_API_KEY']; code.startsWith('PERDURE_STORE_');` }])).toEqual([]);
    expect(unknownCodes([{ path, text: `code.startsWith('${invented}_');` }])).toEqual([`${path}: ${invented}_`]);
  });

  test('the scan catches a code that only the table and tests name', () => {
    const text = `'PERDURE_INTERNAL'`;
    const inTable = { path: 'packages/plugin-api/src/errors/table.ts', text };
    const inTest = { path: 'packages/core/src/planted.test.ts', text };
    expect(unusedCodes([inTable, inTest])).toContain('PERDURE_INTERNAL');
    expect(unusedCodes([{ path: 'packages/core/src/planted.ts', text }])).not.toContain('PERDURE_INTERNAL');
  });

  test('[P20] every code that a source names is in the table', () => {
    expect(unknownCodes(files(/^(?:packages|plugins)\/.*\.(?:ts|mjs|js|md)$/))).toEqual([]);
  });

  test('[P20] every code of the table is used', () => {
    expect(unusedCodes(files(/^(?:packages|plugins)\/.*\.ts$/))).toEqual([]);
  });

  test('[P20] the page of errors is the one that the table makes', () => {
    expect(readText(ERROR_PAGE)).toBe(errorPage());
  });

  test('every code names its area and is written alike', () => {
    const odd = Object.keys(errorTable).filter((code) => !/^PERDURE(?:_[A-Z]+)+$/.test(code));
    expect(odd).toEqual([]);
  });
});
