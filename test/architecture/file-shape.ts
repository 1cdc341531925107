import ts from 'typescript';
import type { WorkspaceFile } from './workspace.js';

export const fileShapeRules = {
  length: 'A file has at most 300 lines; the port of the event store 120.',
  width: 'A line has at most 120 columns.',
  name: 'Files and folders are kebab-case nouns of the domain.',
  'export-all': 'What a file exports is listed by name.',
  'default-export': 'Only the index of a plugin and configurations have a default export.',
  'switched-off-test': 'Tests are skipped by a condition that they name, never switched off.',
  'this-workplace': 'No path of a machine and no host of a registry is in a file.',
} as const;
export type FileShapeRule = keyof typeof fileShapeRules;

export interface ShapeProblem {
  readonly rule: FileShapeRule;
  readonly path: string;
  /** What was found, and where. */
  readonly found: string;
}

const MAX_LINES = 300;
const MAX_COLUMNS = 120;
const SHORTER: Readonly<Record<string, number>> = { 'packages/plugin-api/src/ports/event-store.ts': 120 };
const VAGUE = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'manager', 'types', 'services', 'misc']);
const SWITCHES = new Set(['skip', 'todo', 'only']);
const SKIPS_BY_CAPABILITY = 'packages/testing/src/conformance/';
/** Put together from pieces, so that this file does not hold them. */
const WORKPLACE = [
  ['', 'work', ''].join('/'),
  ['registry', 'npmjs', 'org'].join('.'),
  ['deb', 'debian', 'org'].join('.'),
];

/** What is wrong with the form of a source file. */
export function codeProblems(file: WorkspaceFile): readonly ShapeProblem[] {
  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.ES2022, true);
  return [...lengthProblems(file), ...exportProblems(file.path, tree), ...switchProblems(file.path, tree)];
}

export function lengthProblems({ path, text }: WorkspaceFile): readonly ShapeProblem[] {
  const lines = text.replace(/\n$/, '').split('\n');
  const most = SHORTER[path] ?? MAX_LINES;
  const tooLong = lines.length > most ? [{ rule: 'length' as const, path, found: `${lines.length} lines` }] : [];
  const tooWide = lines.flatMap((line, index) =>
    line.length > MAX_COLUMNS ? [{ rule: 'width' as const, path, found: `line ${index + 1}: ${line.length}` }] : [],
  );
  return [...tooLong, ...tooWide];
}

/** What is wrong with the name of a file or of a folder that it is in. */
export function nameProblems(path: string): readonly ShapeProblem[] {
  const segments = path.split('/').filter((segment) => !segment.startsWith('.'));
  return segments.flatMap((segment) => {
    const word = segment.split('.')[0] ?? '';
    const isBad = VAGUE.has(word.toLowerCase()) || !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(word);
    return isBad ? [{ rule: 'name' as const, path, found: segment }] : [];
  });
}

/** Words that tell where a file was written. */
export function workplaceProblems({ path, text }: WorkspaceFile): readonly ShapeProblem[] {
  return WORKPLACE.filter((word) => text.includes(word)).map((found) => ({ rule: 'this-workplace', path, found }));
}

function exportProblems(path: string, tree: ts.SourceFile): readonly ShapeProblem[] {
  const mayHaveDefault = /^plugins\/[^/]+\/src\/index\.ts$|(?:^|\/)vitest\.config\.ts$/.test(path);
  const problems: ShapeProblem[] = [];
  for (const statement of tree.statements) {
    if (ts.isExportDeclaration(statement)) {
      const { exportClause } = statement;
      if (exportClause === undefined) problems.push({ rule: 'export-all', path, found: statement.getText(tree) });
      else if (ts.isNamedExports(exportClause) && exportClause.elements.some(({ name }) => name.text === 'default')) {
        problems.push({ rule: 'default-export', path, found: statement.getText(tree) });
      }
    } else if (ts.isExportAssignment(statement) || hasDefaultModifier(statement)) {
      problems.push({ rule: 'default-export', path, found: statement.getText(tree).slice(0, 80) });
    }
  }
  return problems.filter(({ rule }) => rule !== 'default-export' || !mayHaveDefault);
}

function hasDefaultModifier(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  return modifiers.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword);
}

/** `test.skip`, `describe.only`, `it.concurrent.todo` and the like, called or handed on. */
function switchProblems(path: string, tree: ts.SourceFile): readonly ShapeProblem[] {
  if (path.startsWith(SKIPS_BY_CAPABILITY)) return [];
  const problems: ShapeProblem[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && SWITCHES.has(node.name.text) && isTestFunction(node.expression)) {
      problems.push({ rule: 'switched-off-test', path, found: node.getText(tree) });
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return problems;
}

function isTestFunction(expression: ts.Expression): boolean {
  if (ts.isPropertyAccessExpression(expression)) return isTestFunction(expression.expression);
  return ts.isIdentifier(expression) && ['test', 'it', 'describe', 'suite', 'context'].includes(expression.text);
}
