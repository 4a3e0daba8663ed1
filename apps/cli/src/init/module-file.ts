import type TS from 'typescript';
import { UsageError } from '../exit.js';
import type { SourceFile } from './source-file.js';

export interface ModuleWishes {
  readonly console: boolean;
  /** From where the example is imported, such as `./reports.js`. */
  readonly example: string;
}

const REDIS = "process.env.REDIS_URL ?? 'redis://localhost:6379'";
const JOBS = '@fencepost/jobs';
const CONSOLE = '@fencepost/console';

/** Whether the module has `JobsModule` already: then its crons are somebody's own, and no example is added. */
export function hasJobs(source: SourceFile): boolean {
  return source.originOf('JobsModule') === JOBS;
}

/**
 * Adds what is missing, in the style of the file.
 * @throws {UsageError} for a module that is not written out
 */
export function addModules(source: SourceFile, className: string, wishes: ModuleWishes): void {
  const isNew = !hasJobs(source);
  const isConsoleNew = wishes.console && source.originOf('ConsoleModule') !== CONSOLE;
  if (!isNew && !isConsoleNew) return;
  const metadata = metadataOf(source, className);
  // A name that is taken stays what it is.
  const isTaken = /\bredis\b/.test(source.before);
  const redis = isTaken ? `redis: ${inQuotes(REDIS, source)}` : 'redis';
  const modules = [
    ...(isNew ? [`JobsModule.forRoot({ roles: ['scheduler', 'worker'], ${redis} })`] : []),
    ...(isConsoleNew
      ? ["ConsoleModule.forRoot({ path: '/crons', auth: { tokens: process.env.FENCEPOST_TOKENS } })"]
      : []),
  ];
  add(source, metadata, [
    { name: 'imports', added: modules.map((one) => inQuotes(one, source)), shape: 'lines' },
    ...(isNew ? [{ name: 'providers', added: ['Reports'], shape: 'line' } as const] : []),
  ]);
  if (isNew) source.addImport('JobsModule', JOBS);
  if (isConsoleNew) source.addImport('ConsoleModule', CONSOLE);
  if (!isNew) return;
  source.addImport('Reports', wishes.example);
  if (!isTaken) source.insert(endOfImports(source), `\n\nconst redis = ${inQuotes(REDIS, source)}${source.end}`);
}

function endOfImports(source: SourceFile): number {
  return source.imports().at(-1)?.getEnd() ?? 0;
}

function inQuotes(text: string, { quote }: SourceFile): string {
  return text.replaceAll("'", quote);
}

function metadataOf(source: SourceFile, className: string): TS.ObjectLiteralExpression {
  const { ts } = source;
  const owner = source.find(ts.isClassDeclaration).find(({ name }) => name?.text === className);
  const calls = (owner && ts.getDecorators(owner)) ?? [];
  for (const { expression: call } of calls) {
    if (!ts.isCallExpression(call) || call.expression.getText(source.file) !== 'Module') continue;
    const [metadata] = call.arguments;
    if (metadata && ts.isObjectLiteralExpression(metadata)) return metadata;
  }
  throw byHand(source, `a class ${className} with @Module({ ... })`);
}

interface Added {
  readonly name: 'imports' | 'providers';
  readonly added: readonly string[];
  readonly shape: 'line' | 'lines';
}

function add(source: SourceFile, metadata: TS.ObjectLiteralExpression, lists: readonly Added[]): void {
  const { ts } = source;
  const absent: Added[] = [];
  for (const list of lists) {
    const property = metadata.properties.find((one) => one.name?.getText(source.file) === list.name);
    if (!property) absent.push(list);
    else if (ts.isPropertyAssignment(property) && ts.isArrayLiteralExpression(property.initializer)) {
      source.append(property.initializer, list.added, list.shape);
    } else throw byHand(source, `"${list.name}" to be an array that is written out`);
  }
  if (absent.length > 0) addProperties(source, metadata, absent);
}

/** At the beginning, where no comma can be missing. */
function addProperties(source: SourceFile, metadata: TS.ObjectLiteralExpression, lists: readonly Added[]): void {
  const outer = source.indentAt(metadata.getStart(source.file));
  const inner = `${outer}  `;
  const written = lists.map(({ name, added, shape }) => {
    const list =
      shape === 'line' ? added.join(', ') : `${added.map((one) => `\n${inner}  ${one},`).join('')}\n${inner}`;
    return `\n${inner}${name}: [${list}],`;
  });
  // What follows in the same line gets one of its own.
  const next = metadata.properties.length > 0 ? inner : outer;
  const follows = startsNewLine(source, metadata) ? '' : `\n${next}`;
  source.insert(metadata.getStart(source.file) + 1, `${written.join('')}${follows}`);
}

/** Whether the first property, or the end, stands in a line of its own. */
function startsNewLine(source: SourceFile, metadata: TS.ObjectLiteralExpression): boolean {
  return /^[^\S\n]*\n/.test(source.before.slice(metadata.getStart(source.file) + 1));
}

function byHand(source: SourceFile, expected: string): UsageError {
  return new UsageError(
    `Expected ${expected} in ${source.name}. Nothing was changed. Add by hand JobsModule.forRoot({ roles: ['scheduler', 'worker'], ` +
      `redis: ${REDIS} }) to its imports, and a provider with a method of @SingletonCron: docs/getting-started.md shows both.`,
  );
}
