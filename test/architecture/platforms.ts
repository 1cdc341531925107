import ts from 'typescript';
import { isTestCode, type WorkspaceFile } from './workspace.js';

/** Where a file asks which system it runs on. */
export interface PlatformQuestion {
  readonly path: string;
  readonly line: number;
}

/** Members of `process`, and of `node:os`, that tell one system from another. */
const OF_PROCESS = ['platform', 'arch'];
const OF_OS = ['platform', 'type', 'release', 'version', 'machine', 'arch'];

/** What a source must hold for one to be worth a closer look. */
const MENTION = /\b(?:platform|arch)\b|['"](?:node:)?os['"]/;

/** Every place of a source that asks which system it runs on, so that it could do something else on each. */
export function platformQuestions(sources: readonly WorkspaceFile[]): readonly PlatformQuestion[] {
  const maybe = sources.filter(({ path, text }) => !isTestCode(path) && MENTION.test(text));
  return maybe.flatMap(questionsOf);
}

function questionsOf({ path, text }: WorkspaceFile): readonly PlatformQuestion[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true);
  const found: PlatformQuestion[] = [];
  const visit = (node: ts.Node): void => {
    if (asks(node)) found.push({ path, line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1 });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function asks(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return isMember(node.expression, node.name.text);
  if (ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)) {
    return isMember(node.expression, node.argumentExpression.text);
  }
  if (ts.isVariableDeclaration(node) && node.initializer !== undefined && ts.isObjectBindingPattern(node.name)) {
    const { initializer } = node;
    return node.name.elements.some(({ name, propertyName }) => isMember(initializer, (propertyName ?? name).getText()));
  }
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    const named = node.importClause?.namedBindings;
    const members = OF_MODULE[node.moduleSpecifier.text.replace(/^node:/, '')] ?? [];
    if (named === undefined || !ts.isNamedImports(named)) return false;
    return named.elements.some(({ name, propertyName }) => members.includes((propertyName ?? name).getText()));
  }
  return false;
}

const OF_MODULE: Readonly<Record<string, readonly string[]>> = { os: OF_OS, process: OF_PROCESS };

function isMember(of: ts.Expression, name: string): boolean {
  const owner = of.getText();
  if (owner === 'process' || owner === 'globalThis.process') return OF_PROCESS.includes(name);
  return owner === 'os' && OF_OS.includes(name);
}
