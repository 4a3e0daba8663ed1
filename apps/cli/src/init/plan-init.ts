import { dirname, join, posix } from 'node:path';
import { UsageError } from '../exit.js';
import type { Change } from '../rewriting/edits.js';
import type { Compiler } from '../rewriting/project.js';
import { exampleFor } from './example.js';
import { addShutdownHooks, bootstrapIn } from './main-file.js';
import { readManifest, withDependencies } from './manifest.js';
import { addModules, hasJobs } from './module-file.js';
import { SourceFile } from './source-file.js';

export interface InitOptions {
  readonly ts: Compiler;
  readonly console: boolean;
  /** The text of a file of the application; `null` where there is none. */
  readonly read: (file: string) => string | null;
}

/** A file that is to be written; one that is new had no text before. */
export interface InitChange extends Change {
  readonly isNew: boolean;
}

/**
 * What has to be written to set Fencepost up, and nothing that is there already. All files are judged here, before the first of
 * them is written.
 * @throws {UsageError} for an application that has to be changed by hand
 */
export function planInit({ ts, console, read }: InitOptions): InitChange[] {
  const manifest = read('package.json');
  const { type } = readManifest(manifest);
  const main = sourceOf(mainFile(read), { ts, read });
  const bootstrap = bootstrapIn(main);
  if (console && bootstrap.how !== 'create') {
    throw new UsageError(
      `Expected NestFactory.create in ${main.name} for the console, found NestFactory.${bootstrap.how}, which serves no HTTP. ` +
        'Nothing was changed. Run this with --no-console.',
    );
  }
  const module = sourceOf(fileOf(bootstrap.from, main.name), { ts, read });
  const extension = module.hasExtensions || main.hasExtensions || type === 'module' ? '.js' : '';
  const example = posix.join(posix.dirname(module.name), 'reports.ts');
  const isFirst = !hasJobs(module);
  if (isFirst && read(example) !== null) {
    throw new UsageError(
      `Expected no file ${example}, where the example belongs. Nothing was changed. Move it, and run this again.`,
    );
  }
  addModules(module, bootstrap.module, { console, example: `./reports${extension}` });
  addShutdownHooks(main, bootstrap);
  const changed = [
    { file: 'package.json', before: manifest ?? '', text: withDependencies(manifest ?? '', { console }), isNew: false },
    ...[module, main].map(({ name, before, text }) => ({ file: name, before, text, isNew: false })),
    ...(isFirst ? [{ file: example, before: '', text: exampleFor(module), isNew: true }] : []),
  ];
  return changed.filter(({ before, text }) => before !== text);
}

function sourceOf(name: string, { ts, read }: Pick<InitOptions, 'ts' | 'read'>): SourceFile {
  const text = read(name);
  if (text !== null) return new SourceFile(ts, name, text);
  throw new UsageError(
    `Expected the file ${name} of a Nest application in TypeScript, found none. Nothing was changed.`,
  );
}

/** Where an application of the Nest CLI begins. */
function mainFile(read: InitOptions['read']): string {
  const { sourceRoot = 'src', entryFile = 'main' } = nestConfig(read('nest-cli.json'));
  return `${posix.join(sourceRoot, entryFile)}.ts`;
}

function nestConfig(text: string | null): { readonly sourceRoot?: string; readonly entryFile?: string } {
  try {
    return text === null ? {} : (Object(JSON.parse(text)) as object);
  } catch (error) {
    throw new UsageError(`Cannot read nest-cli.json: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function fileOf(specifier: string, importer: string): string {
  return `${join(dirname(importer), specifier).replaceAll('\\', '/').replace(/\.js$/, '')}.ts`;
}
