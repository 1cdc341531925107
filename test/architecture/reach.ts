import { posix } from 'node:path';
import ts from 'typescript';
import type { WorkspaceFile } from './workspace.js';

/** What a file needs when it runs: the files of the repository, and the modules from elsewhere. */
export interface Reach {
  readonly files: readonly string[];
  readonly modules: readonly string[];
}

/** Everything that runs with a file, however far away. What only types need is not among it. */
export function reachOf(start: string, sources: readonly WorkspaceFile[]): Reach {
  const texts = new Map(sources.map(({ path, text }) => [path, text]));
  const files = new Set<string>();
  const modules = new Set<string>();
  const follow = (path: string): void => {
    const text = texts.get(path);
    if (text === undefined) throw new Error(`There is no file ${path}.`);
    if (files.has(path)) return;
    files.add(path);
    for (const specifier of runtimeImportsOf({ path, text })) {
      if (!specifier.startsWith('.')) modules.add(specifier);
      else follow(posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts'));
    }
  };
  follow(start);
  return { files: [...files], modules: [...modules] };
}

function runtimeImportsOf({ path, text }: WorkspaceFile): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node);
    if (specifier !== undefined) found.push(specifier);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true));
  return found;
}

function specifierOf(node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node)) return isOfTypes(node.importClause) ? undefined : textOf(node.moduleSpecifier);
  if (ts.isExportDeclaration(node)) return node.isTypeOnly ? undefined : textOf(node.moduleSpecifier);
  const isDynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  return isDynamic ? textOf(node.arguments[0]) : undefined;
}

function isOfTypes(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const { namedBindings: named } = clause;
  if (clause.name !== undefined || named === undefined || !ts.isNamedImports(named)) return false;
  return named.elements.length > 0 && named.elements.every(({ isTypeOnly }) => isTypeOnly);
}

function textOf(node: ts.Node | undefined): string | undefined {
  return node !== undefined && ts.isStringLiteralLike(node) ? node.text : undefined;
}
