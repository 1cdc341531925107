import { dirname, join } from 'node:path';
import ts from 'typescript';
import { published, readText, root, type Project } from './workspace.js';

/** An entry of a package: its subpath, and its source from the root. */
interface Entry {
  readonly subpath: string;
  readonly source: string;
}

/**
 * The pinned names of one package, as text: one entry after the other, types and values in the order of the alphabet.
 */
export interface Pin {
  readonly path: string;
  readonly text: string;
}

/** The exported names of every published package as they are in the sources. */
export function exportPins(): readonly Pin[] {
  const entries = published.map((project) => ({ project, entries: entriesOf(project) }));
  const sources = entries.flatMap((one) => one.entries.map(({ source }) => join(root, source)));
  const program = ts.createProgram(sources, compilerOptions());
  const checker = program.getTypeChecker();
  return entries.map(({ project, entries: own }) => {
    const text = own.map((entry) => describeEntry(program, checker, entry)).join('\n');
    return { path: `test/architecture/exports/${shortName(project)}.txt`, text };
  });
}

function shortName({ manifest }: Project): string {
  return manifest.name.replace('@perdure/', '');
}

function entriesOf({ folder, manifest }: Project): readonly Entry[] {
  return Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) => {
    const source = typeof target === 'object' && target !== null ? Reflect.get(target, '@perdure/source') : undefined;
    return typeof source === 'string' ? [{ subpath, source: join(folder, source) }] : [];
  });
}

function describeEntry(program: ts.Program, checker: ts.TypeChecker, { subpath, source }: Entry): string {
  const file = program.getSourceFile(join(root, source));
  const symbol = file === undefined ? undefined : checker.getSymbolAtLocation(file);
  const names = symbol === undefined ? [] : checker.getExportsOfModule(symbol).map((name) => line(checker, name));
  return [`# ${subpath}`, ...names.sort(), ''].join('\n');
}

function line(checker: ts.TypeChecker, symbol: ts.Symbol): string {
  const target = (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
  return `${symbol.name}${(target.flags & ts.SymbolFlags.Value) === 0 ? ' (type)' : ''}`;
}

function compilerOptions(): ts.CompilerOptions {
  const path = 'tsconfig.base.json';
  const parsed = ts.parseConfigFileTextToJson(path, readText(path));
  const { options } = ts.parseJsonConfigFileContent(parsed.config, ts.sys, dirname(join(root, path)), { noEmit: true });
  return { ...options, composite: false };
}
