import ts from 'typescript';
import type { Milestone, Requirement } from '../requirements/index.js';
import type { WorkspaceFile } from './workspace.js';

const CITATION = /\[([APR]\d+(?:\/[a-z]+)?)\]/g;

/** The ids that the titles of the tests of a file cite. */
export function citationsOf({ path, text }: WorkspaceFile): readonly string[] {
  const cited = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isTestCall(node.expression)) {
      const title = node.arguments[0];
      const words = title !== undefined && isText(title) ? title.getText().matchAll(CITATION) : [];
      for (const [, id] of words) if (id !== undefined) cited.add(id);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true));
  return [...cited];
}

/** `test(…)`, `describe.each(…)(…)`, `it.skipIf(…)(…)` and so on. */
function isTestCall(expression: ts.Expression): boolean {
  if (ts.isCallExpression(expression) || ts.isPropertyAccessExpression(expression)) {
    return isTestCall(expression.expression);
  }
  return ts.isIdentifier(expression) && ['test', 'it', 'describe'].includes(expression.text);
}

function isText(node: ts.Node): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

/** Everything that is wrong between the promises and the tests that cite them. */
export function citationProblems(
  requirements: readonly Requirement[],
  milestones: readonly Milestone[],
  reached: Milestone,
  testFiles: readonly WorkspaceFile[],
): readonly string[] {
  const citations = new Map(testFiles.map((file) => [file.path, citationsOf(file)]));
  const known = new Set(requirements.map(({ id }) => id));
  const unknown = [...citations].flatMap(([path, ids]) =>
    ids.filter((id) => !known.has(id)).map((id) => `${id}: cited by ${path} and not in test/requirements`),
  );
  const isDue = ({ due }: Requirement): boolean => milestones.indexOf(due) <= milestones.indexOf(reached);
  return [
    ...requirements.flatMap((one) => (isDue(one) || isEarly(one) ? dueProblems(one, citations) : laterProblems(one))),
    ...unknown,
  ];
}

/** One that tests prove before it is due. */
function isEarly({ tests, deferred }: Requirement): boolean {
  return tests.length > 0 && deferred === undefined;
}

function dueProblems(
  { id, tests, deferred }: Requirement,
  citations: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const problems = deferred === undefined ? [] : [`${id}: is due and cannot be deferred`];
  const citing = [...citations].filter(([, ids]) => ids.includes(id)).map(([path]) => path);
  if (tests.length === 0) {
    const found = citing.length === 0 ? 'no test cites it' : `these tests cite it: ${citing.join(', ')}`;
    problems.push(`${id}: lists no tests; ${found}`);
  }
  for (const path of tests) {
    if (!citations.has(path)) problems.push(`${id}: ${path} is no test file`);
    else if (!citing.includes(path)) problems.push(`${id}: no test title of ${path} has [${id}]`);
  }
  return problems;
}

function laterProblems({ id, due, deferred }: Requirement): readonly string[] {
  return (deferred ?? '') === '' ? [`${id}: is due at ${due} and does not say what is missing until then`] : [];
}
