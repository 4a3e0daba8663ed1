import type TS from 'typescript';
import type { Compiler } from '../rewriting/project.js';
import type { ScheduleDecorator, Written } from './translate.js';

export const SCHEDULE = '@nestjs/schedule';

/** Functions that return something else each time. */
const VARIES = /\bDate\b|random|\bnow\b|uuid|hostname/i;

/** A decorator, where it stands, and the method it stands at. */
export interface FoundDecorator extends ScheduleDecorator {
  readonly call: TS.Expression;
  readonly decorator: TS.Decorator;
  readonly node: TS.MethodDeclaration;
}

/** What a file takes from `@nestjs/schedule`: what each is called here, and its import. */
export interface ScheduleImport {
  readonly node: TS.ImportDeclaration;
  /** Names in the file, with what they are in the package. */
  readonly names: ReadonlyMap<string, string>;
  readonly isNamespace: boolean;
}

/** A file, and what constants are worth in it. */
export class ScheduleSource {
  readonly file: TS.SourceFile;
  readonly import: ScheduleImport | null;
  readonly #constants = new Map<string, TS.Expression>();

  /** @param expressions the members of `CronExpression` */
  constructor(
    private readonly ts: Compiler,
    { name, text, expressions }: { name: string; text: string; expressions: ReadonlyMap<string, string> },
  ) {
    const kind = name.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
    this.file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true, kind);
    this.import = this.#readImport();
    this.#expressions = expressions;
    for (const statement of this.file.statements) this.#noteConstants(statement);
    for (const owner of this.#classes(this.file)) this.#noteStatics(owner);
  }

  readonly #expressions: ReadonlyMap<string, string>;

  *decorators(): Generator<FoundDecorator> {
    const names = this.import?.names;
    if (names === undefined) return;
    const { ts } = this;
    for (const owner of this.#classes(this.file)) {
      for (const node of owner.members.filter((member) => ts.isMethodDeclaration(member))) {
        for (const decorator of ts.getDecorators(node) ?? []) {
          const { expression: call } = decorator;
          if (!ts.isCallExpression(call) || !ts.isIdentifier(call.expression)) continue;
          const kind = names.get(call.expression.text);
          if (kind !== 'Cron' && kind !== 'Interval' && kind !== 'Timeout') continue;
          const className = owner.name?.text ?? '';
          const method = node.name.getText(this.file);
          yield { kind, className, method, call, decorator, node, ...this.#arguments(call.arguments) };
        }
      }
    }
  }

  #arguments(args: readonly TS.Expression[]): Pick<ScheduleDecorator, 'args' | 'options' | 'isDate' | 'isVarying'> {
    const [first, options] = args;
    return {
      args: args.map((arg) => this.#written(arg)),
      isDate: first !== undefined && this.#isDate(first),
      isVarying: first !== undefined && this.#isVarying(first, false),
      options: options === undefined ? new Map() : this.#options(options),
    };
  }

  #isDate(node: TS.Expression): boolean {
    const { ts } = this;
    if (ts.isNewExpression(node)) return true;
    if (ts.isIdentifier(node)) {
      const constant = this.#constants.get(node.text);
      return constant !== undefined && this.#isDate(constant);
    }
    return ts.isCallExpression(node) && /^(DateTime|Date)\b/.test(node.expression.getText(this.file));
  }

  /**
   * Whether each load of the file may come to another value: it is made of the time or of chance, or text is put together from
   * what a function returns. A call alone may just as well read a configuration.
   * @param isPart of a text that is put together
   */
  #isVarying(node: TS.Node, isPart: boolean): boolean {
    const { ts } = this;
    const constant = this.#constants.get(node.getText(this.file));
    if (constant) return this.#isVarying(constant, isPart);
    const isCall = ts.isCallExpression(node) || ts.isNewExpression(node);
    if (isCall && (isPart || VARIES.test(node.expression.getText(this.file)))) return true;
    const isText = ts.isTemplateExpression(node) || ts.isBinaryExpression(node);
    let isFound = false;
    ts.forEachChild(node, (child) => void (isFound ||= this.#isVarying(child, isPart || isText)));
    return isFound;
  }

  #options(node: TS.Expression): Map<string, Written> | null {
    const { ts } = this;
    if (!ts.isObjectLiteralExpression(node)) return null;
    const found = new Map<string, Written>();
    for (const property of node.properties) {
      if (ts.isShorthandPropertyAssignment(property)) found.set(property.name.text, this.#written(property.name));
      else if (!ts.isPropertyAssignment(property) || ts.isComputedPropertyName(property.name)) return null;
      else found.set(property.name.text, this.#written(property.initializer));
    }
    return found;
  }

  #written(node: TS.Expression): Written {
    return { text: node.getText(this.file), value: this.#valueOf(node) };
  }

  /** `undefined` for what is only known at run time. */
  #valueOf(node: TS.Expression): Written['value'] {
    const { ts } = this;
    if (ts.isStringLiteralLike(node)) return node.text;
    if (ts.isNumericLiteral(node)) return Number(node.text);
    if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
    if (node.kind === ts.SyntaxKind.FalseKeyword) return false;
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return this.#valueOf(node.expression);
    if (ts.isPropertyAccessExpression(node)) return this.#constantOfPackage(node);
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.MinusToken) {
      const value = this.#valueOf(node.operand);
      return typeof value === 'number' ? -value : undefined;
    }
    if (ts.isBinaryExpression(node)) return this.#calculated(node);
    if (!ts.isIdentifier(node)) return undefined;
    const constant = this.#constants.get(node.text);
    return constant === undefined ? undefined : this.#valueOf(constant);
  }

  #calculated({ left, right, operatorToken }: TS.BinaryExpression): number | undefined {
    const [a, b] = [this.#valueOf(left), this.#valueOf(right)];
    if (typeof a !== 'number' || typeof b !== 'number') return undefined;
    const { SyntaxKind } = this.ts;
    switch (operatorToken.kind) {
      case SyntaxKind.AsteriskToken:
        return a * b;
      case SyntaxKind.PlusToken:
        return a + b;
      case SyntaxKind.MinusToken:
        return a - b;
      case SyntaxKind.SlashToken:
        return a / b;
      default:
        return undefined;
    }
  }

  #constantOfPackage({ expression, name }: TS.PropertyAccessExpression): string | undefined {
    const isEnum = this.ts.isIdentifier(expression) && this.import?.names.get(expression.text) === 'CronExpression';
    return isEnum ? this.#expressions.get(name.text) : undefined;
  }

  *#classes(node: TS.Node): Generator<TS.ClassLikeDeclaration> {
    const { ts } = this;
    if (ts.isClassLike(node)) yield node;
    const children: TS.Node[] = [];
    ts.forEachChild(node, (child) => void children.push(child));
    for (const child of children) yield* this.#classes(child);
  }

  #noteConstants(statement: TS.Statement): void {
    const { ts } = this;
    if (!ts.isVariableStatement(statement) || (statement.declarationList.flags & ts.NodeFlags.Const) === 0) return;
    for (const { name, initializer } of statement.declarationList.declarations) {
      if (ts.isIdentifier(name) && initializer) this.#constants.set(name.text, initializer);
    }
  }

  /** As they are written outside of the class: `Tasks.EVERY_HOUR`. */
  #noteStatics({ name: owner, members }: TS.ClassLikeDeclaration): void {
    const { ts } = this;
    for (const member of members) {
      if (!owner || !ts.isPropertyDeclaration(member) || !member.initializer) continue;
      const isStatic = member.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword);
      if (isStatic) this.#constants.set(`${owner.text}.${member.name.getText(this.file)}`, member.initializer);
    }
  }

  #readImport(): ScheduleImport | null {
    const node = this.importOf(SCHEDULE);
    const bindings = node?.importClause?.namedBindings;
    if (!node || !bindings) return null;
    if (this.ts.isNamespaceImport(bindings)) return { node, names: new Map(), isNamespace: true };
    const names = bindings.elements.map(({ name, propertyName }) => [name.text, (propertyName ?? name).text] as const);
    return { node, names: new Map(names), isNamespace: false };
  }

  /** The import of values from a package; `undefined` without one. */
  importOf(from: string): TS.ImportDeclaration | undefined {
    const { ts } = this;
    return this.file.statements.find(
      (statement): statement is TS.ImportDeclaration =>
        ts.isImportDeclaration(statement) &&
        ts.isStringLiteral(statement.moduleSpecifier) &&
        statement.moduleSpecifier.text === from &&
        statement.importClause !== undefined &&
        !statement.importClause.isTypeOnly,
    );
  }
}
