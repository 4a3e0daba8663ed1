import type TS from 'typescript';
import { UsageError } from '../exit.js';
import type { SourceFile } from './source-file.js';

/** Where an application is made, and of which module. */
export interface Bootstrap {
  /** The name of its module's class. */
  readonly module: string;
  /** From where that is imported. */
  readonly from: string;
  /** `create`, or what serves no HTTP. */
  readonly how: string;
  /** What the application is called, and the statement that makes it. */
  readonly app: string;
  readonly statement: TS.VariableStatement;
}

const BY_HAND =
  'Nothing was changed. Import JobsModule and call enableShutdownHooks() by hand: docs/getting-started.md shows both.';

/** @throws {UsageError} for a file that makes its application in another way than `nest new` does */
export function bootstrapIn(main: SourceFile): Bootstrap {
  const { ts } = main;
  const [made, ...more] = main.find(ts.isCallExpression).flatMap((call) => creationIn(main, call) ?? []);
  if (!made || more.length > 0) {
    throw new UsageError(
      `Expected one "const app = await NestFactory.create(AppModule)" in ${main.name}, found ${more.length > 0 ? more.length + 1 : 'none'}. ${BY_HAND}`,
    );
  }
  const from = main.originOf(made.module);
  if (from?.startsWith('.')) return { ...made, from };
  throw new UsageError(`Expected ${main.name} to import ${made.module} from a file of the application. ${BY_HAND}`);
}

function creationIn({ ts, file }: SourceFile, call: TS.CallExpression): Omit<Bootstrap, 'from'> | null {
  const [, how] = /^NestFactory\.(create\w*)$/.exec(call.expression.getText(file)) ?? [];
  const [module] = call.arguments;
  const declaration = ts.isAwaitExpression(call.parent) ? call.parent.parent : call.parent;
  if (how === undefined || !module || !ts.isIdentifier(module)) return null;
  if (!ts.isVariableDeclaration(declaration) || !ts.isIdentifier(declaration.name)) return null;
  const statement = declaration.parent.parent;
  if (!ts.isVariableStatement(statement)) return null;
  return { module: module.text, how, app: declaration.name.text, statement };
}

/** A deploy then waits for the runs that are under way. Not a second time. */
export function addShutdownHooks(main: SourceFile, { app, statement }: Bootstrap): void {
  if (/\.enableShutdownHooks\(/.test(main.before)) return;
  const indent = main.indentAt(statement.getStart(main.file));
  const comment = ' // a deploy waits for the runs that are under way';
  main.insert(statement.getEnd(), `\n${indent}${app}.enableShutdownHooks()${main.end}${comment}`);
}
