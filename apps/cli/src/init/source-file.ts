import type TS from 'typescript';
import { edited, type Edit } from '../rewriting/edits.js';
import type { Compiler } from '../rewriting/project.js';

/** A file of the project, what it says, and what is put into it in its own style. */
export class SourceFile {
  readonly file: TS.SourceFile;
  readonly quote: string;
  /** `;` where statements end with one. */
  readonly end: string;
  /** Its modules name files with this ending. */
  readonly hasExtensions: boolean;
  readonly #edits: Edit[] = [];

  constructor(
    readonly ts: Compiler,
    readonly name: string,
    readonly before: string,
  ) {
    this.file = ts.createSourceFile(name, before, ts.ScriptTarget.Latest, true);
    const [first] = this.imports();
    this.quote = first?.moduleSpecifier.getText(this.file)[0] ?? "'";
    this.end = !first || first.getText(this.file).endsWith(';') ? ';' : '';
    this.hasExtensions = this.imports().some(({ moduleSpecifier: from }) => /^\..*\.js$/.test(this.textOf(from)));
  }

  /** As it is now. */
  get text(): string {
    return edited(this.before, this.#edits);
  }

  imports(): readonly TS.ImportDeclaration[] {
    return this.file.statements.filter((statement) => this.ts.isImportDeclaration(statement));
  }

  /** From where a name is imported; `null` for one that is not. */
  originOf(name: string): string | null {
    const { ts } = this;
    const found = this.imports().find(({ importClause }) => {
      const bindings = importClause?.namedBindings;
      return bindings && ts.isNamedImports(bindings) && bindings.elements.some((one) => one.name.text === name);
    });
    return found ? this.textOf(found.moduleSpecifier) : null;
  }

  /** Below the imports of packages, or below all of them; not a second time. */
  addImport(name: string, from: string): void {
    if (this.originOf(name) !== null) return;
    const all = this.imports();
    const packages = all.filter(({ moduleSpecifier }) => !this.textOf(moduleSpecifier).startsWith('.'));
    const after = (from.startsWith('.') ? undefined : packages.at(-1)) ?? all.at(-1);
    const line = `import { ${name} } from ${this.quote}${from}${this.quote}${this.end}`;
    if (after) this.insert(after.getEnd(), `\n${line}`);
    else this.insert(0, `${line}\n`);
  }

  insert(at: number, text: string): void {
    this.#edits.push({ from: at, to: at, text });
  }

  /** More elements of an array: in its line, or in lines of their own. */
  append(array: TS.ArrayLiteralExpression, added: readonly string[], shape: 'line' | 'lines'): void {
    const { elements } = array;
    const written = this.before.slice(array.getStart(this.file), array.getEnd());
    const outer = this.indentAt(array.getStart(this.file));
    const inner = `${outer}  `;
    if (written.includes('\n') && elements.length > 0) {
      const comma = elements.hasTrailingComma ? '' : ',';
      // A comment after the last one is about that one.
      const [rest = ''] = /^[^\S\n]*\/\/.*/.exec(this.before.slice(elements.end)) ?? [];
      this.insert(elements.end, comma);
      this.insert(elements.end + rest.length, added.map((one) => `\n${inner}${one},`).join(''));
      return;
    }
    const all = [...elements.map((one) => one.getText(this.file)), ...added];
    const text =
      shape === 'line' ? `[${all.join(', ')}]` : `[\n${all.map((one) => `${inner}${one},\n`).join('')}${outer}]`;
    this.#edits.push({ from: array.getStart(this.file), to: array.getEnd(), text });
  }

  /** What the line of a place begins with. */
  indentAt(at: number): string {
    const { line } = this.file.getLineAndCharacterOfPosition(at);
    const start = this.file.getPositionOfLineAndCharacter(line, 0);
    return /^[^\S\n]*/.exec(this.before.slice(start))?.[0] ?? '';
  }

  textOf(node: TS.Expression): string {
    return this.ts.isStringLiteralLike(node) ? node.text : node.getText(this.file);
  }

  /** Every node of a kind, in the order of the text. */
  find<Node extends TS.Node>(is: (node: TS.Node) => node is Node, from: TS.Node = this.file): Node[] {
    const found: Node[] = is(from) ? [from] : [];
    this.ts.forEachChild(from, (child) => void found.push(...this.find(is, child)));
    return found;
  }
}
