import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type TS from 'typescript';
import { UsageError } from '../exit.js';

export type Compiler = typeof TS;

/**
 * The compiler that the project itself has: it reads the project's syntax.
 * @throws {UsageError} where it has none
 */
export async function compilerOfProject(): Promise<Compiler> {
  const ts = await fromProject<Compiler>('typescript');
  if (typeof ts?.createSourceFile === 'function') return ts;
  throw new UsageError(
    'Expected the package typescript, version 5 or 6, which is not installed. Run: npm i -D typescript@6',
  );
}

/** A package as the project has it; `null` where it has none. */
export async function fromProject<Module>(name: string): Promise<Module | null> {
  try {
    const path = createRequire(join(process.cwd(), 'package.json')).resolve(name);
    const loaded = (await import(pathToFileURL(path).href)) as Module & { default?: Module };
    return loaded.default ?? loaded;
  } catch {
    return null;
  }
}
