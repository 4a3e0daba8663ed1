import type TS from 'typescript';
import { edited, type Edit } from '../rewriting/edits.js';
import type { Compiler } from '../rewriting/project.js';
import { ScheduleSource, type FoundDecorator, type ScheduleImport } from './read-source.js';
import { translate, type TranslateOptions, type Translation } from './translate.js';

export interface MigrateOptions extends Omit<TranslateOptions, 'quote'> {
  readonly ts: Compiler;
  /** The members of `CronExpression`. */
  readonly expressions: ReadonlyMap<string, string>;
}

/** A cron that was translated. */
export interface MigratedCron {
  readonly name: string;
  /** Class and method. */
  readonly where: string;
  readonly decorator: string;
}

export interface MigratedSource {
  readonly text: string;
  readonly crons: readonly MigratedCron[];
  /** What a person has to decide, with the line in the file as it was. */
  readonly decide: readonly { readonly line: number; readonly text: string }[];
}

const JOBS = '@fencepost/jobs';
const MARK = '// fencepost:';
const REGISTRY =
  'SchedulerRegistry does not know the crons of Fencepost: pause them with CronOperator, make and remove them with CronCatalog.';
const NAMESPACE = 'import the names of @nestjs/schedule one by one, so that its decorators can be translated.';

/** Translates a file; `null` for one that takes nothing from `@nestjs/schedule`. */
export function migrateSource(name: string, text: string, options: MigrateOptions): MigratedSource | null {
  const source = new ScheduleSource(options.ts, { name, text, expressions: options.expressions });
  if (source.import === null) return null;
  const rewriting = new Rewriting(source, source.import, options);
  const quote = (value: string) => quoted(value, source.import?.node.moduleSpecifier.getText(source.file)[0]);
  for (const found of source.decorators()) rewriting.replace(found, translate(found, { ...options, quote }));
  return rewriting.result();
}

/** In the quotes of the file. */
function quoted(value: string, quote = "'"): string {
  const json = JSON.stringify(value);
  return quote === '"' || value.includes("'") ? json : `'${json.slice(1, -1).replaceAll(String.raw`\"`, '"')}'`;
}

class Rewriting {
  readonly #edits: Edit[] = [];
  readonly #crons: MigratedCron[] = [];
  readonly #decide: { line: number; text: string }[] = [];
  /** Methods that take a run now; one may have several decorators. */
  readonly #given = new Set<TS.MethodDeclaration>();
  readonly #ts: Compiler;

  constructor(
    private readonly source: ScheduleSource,
    private readonly from: ScheduleImport,
    { ts }: MigrateOptions,
  ) {
    this.#ts = ts;
  }

  replace({ call, decorator, node, className, method }: FoundDecorator, translation: Translation): void {
    const { file } = this.source;
    for (const text of translation.decide) this.#comment(decorator.getStart(file), text);
    if (translation.decorator === null) return;
    this.#edits.push({ from: call.getStart(file), to: call.getEnd(), text: translation.decorator });
    this.#crons.push({
      name: translation.name,
      where: `${className}.${method}`,
      decorator: `@${translation.decorator}`,
    });
    // Only beside nothing: a parameter that is there means something else.
    if (node.parameters.length === 0 && !this.#given.has(node)) {
      this.#given.add(node);
      this.#edits.push({ from: node.parameters.pos, to: node.parameters.end, text: '_run: RunContext' });
    }
  }

  result(): MigratedSource {
    const start = this.from.node.getStart(this.source.file);
    if (this.from.isNamespace) this.#comment(start, NAMESPACE);
    if ([...this.from.names.values()].includes('SchedulerRegistry')) this.#comment(start, REGISTRY);
    if (this.#crons.length > 0) this.#mendImports();
    const { text } = this.source.file;
    return {
      text: edited(text, this.#edits),
      crons: this.#crons,
      decide: this.#decide.toSorted((a, b) => a.line - b.line),
    };
  }

  /** Above a statement or a decorator, and not a second time. */
  #comment(at: number, text: string): void {
    const { file } = this.source;
    const { line } = file.getLineAndCharacterOfPosition(at);
    this.#decide.push({ line: line + 1, text });
    const lineStart = file.getPositionOfLineAndCharacter(line, 0);
    const indent = /^\s*/.exec(file.text.slice(lineStart, at))?.[0] ?? '';
    const before = file.text.slice(0, lineStart);
    const comment = `${MARK} ${text}`;
    const above = before.slice(0, -1).split('\n').toReversed();
    const marks = above.slice(
      0,
      above.findIndex((one) => !one.trim().startsWith(MARK)),
    );
    if (marks.some((one) => one.trim() === comment)) return;
    this.#edits.push({ from: lineStart, to: lineStart, text: `${indent}${comment}\n` });
  }

  #mendImports(): void {
    const { file } = this.source;
    const needed = ['SingletonCron', 'type RunContext'].filter((name) => this.#isNeeded(name));
    const kept = this.#keptNames();
    const { node } = this.from;
    const quote = node.moduleSpecifier.getText(file)[0] ?? "'";
    const end = node.getText(file).endsWith(';') ? ';' : '';
    const line = (names: readonly string[], from: string) =>
      `import { ${names.join(', ')} } from ${quote}${from}${quote}${end}`;
    const old = kept.length === 0 ? [] : [line(kept, '@nestjs/schedule')];
    const present = this.source.importOf(JOBS);
    const bindings = present?.importClause?.namedBindings;
    const merged = bindings && this.#ts.isNamedImports(bindings) ? bindings : null;
    if (merged) this.#addTo(merged, needed);
    const fresh = merged || needed.length === 0 ? [] : [line(needed, JOBS)];
    const text = [...fresh, ...old].join('\n');
    const isGone = text === '';
    this.#edits.push({ from: node.getStart(file), to: node.getEnd() + (isGone ? 1 : 0), text });
  }

  #isNeeded(name: string): boolean {
    if (name === 'SingletonCron') return true;
    const isThere = /^import[^;]*\bRunContext\b/m.test(this.source.file.text);
    return !isThere && this.#edits.some(({ text }) => text.includes('RunContext'));
  }

  #addTo(bindings: TS.NamedImports, needed: readonly string[]): void {
    const there = new Set(bindings.elements.map((element) => element.name.text));
    const missing = needed.filter((name) => !there.has(name.replace('type ', '')));
    const last = bindings.elements.at(-1);
    if (missing.length === 0 || !last) return;
    this.#edits.push({ from: last.getEnd(), to: last.getEnd(), text: `, ${missing.join(', ')}` });
  }

  /** What the file still takes from `@nestjs/schedule`. */
  #keptNames(): string[] {
    const { file } = this.source;
    const used = new Set<string>();
    const replaced = this.#edits.filter(({ from, to }) => to > from);
    const visit = (node: TS.Node): void => {
      const isReplaced = replaced.some(({ from, to }) => node.getStart(file) >= from && node.getEnd() <= to);
      if (isReplaced) return this.#keepWritten(node, used);
      if (this.#ts.isIdentifier(node)) used.add(node.text);
      if (node !== this.from.node) this.#ts.forEachChild(node, visit);
    };
    visit(file);
    const elements = this.from.node.importClause?.namedBindings;
    if (!elements || !this.#ts.isNamedImports(elements)) return [];
    return elements.elements.filter(({ name }) => used.has(name.text)).map((element) => element.getText(file));
  }

  /** Of a decorator that was replaced, what its translation still says: a constant that could not be read. */
  #keepWritten(node: TS.Node, used: Set<string>): void {
    const written = this.#crons.map(({ decorator }) => decorator).join('\n');
    for (const [, word = ''] of node.getText(this.source.file).matchAll(/\b([A-Za-z_$][\w$]*)\b/g)) {
      if (new RegExp(`\\b${word.replaceAll('$', String.raw`\$`)}\\b`).test(written) && this.from.names.has(word))
        used.add(word);
    }
  }
}
