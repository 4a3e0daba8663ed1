import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';

const NEST = fileURLToPath(new URL('../../libs/jobs/src/nest/', import.meta.url));
const FILE = `${NEST}judged.ts`;

const PROLOGUE = `import { SingletonCron, type SingletonCronOptions } from './singleton-cron.decorator.js';
declare class Config { get<T = any>(key: string): T; find(key: string): string | undefined; }
declare class Other { readonly different: string; }
declare const options: SingletonCronOptions;
export class Reports { constructor(private readonly config: Config) {}
`;

const ACCEPTED = [
  `@SingletonCron((self: Reports) => self.config.get('CRON'), { name: 'a' })`,
  `@SingletonCron((self: Reports) => self.config.find('CRON'), { name: 'a', timeZone: (self: Reports) => self.config.get('ZONE') })`,
  `@SingletonCron('0 3 * * *', { name: 'a', timeZone: 'Europe/Berlin', disabled: (self: Reports) => self.config.get<boolean>('OFF') })`,
  `@SingletonCron({ name: 'a', every: (self: Reports) => self.config.get('EVERY'), disabled: true })`,
  `@SingletonCron({ name: 'a', every: '30s', disabled: (self: Reports) => self.config.get<boolean>('OFF') })`,
  `@SingletonCron(() => process.env['CRON'], { name: 'a' })`,
  `@SingletonCron('0 3 * * *', options)`,
];

const REFUSED: readonly (readonly [decorator: string, sentence: string])[] = [
  [`@SingletonCron('61 * * * *', { name: 'a' })`, 'the minute field takes values from 0 to 59, not \\"61\\"'],
  [`@SingletonCron('0 3 * * *', { name: 'a', timeZone: 'Europe/Berln' })`, 'expected an IANA time zone such as'],
  [`@SingletonCron(() => 5, { name: 'a' })`, `Type 'number' is not assignable to type 'string'`],
  [
    `@SingletonCron((self: Other) => self.different, { name: 'a' })`,
    `'Reports' is not assignable to parameter of type 'Other'`,
  ],
  [
    `@SingletonCron({ name: 'a', every: (self: Other) => self.different })`,
    `'Reports' is not assignable to parameter of type 'Other'`,
  ],
  [
    `@SingletonCron('0 3 * * *', { name: 'a', spread: () => '5m' })`,
    `'() => string' is not assignable to type 'string | number`,
  ],
];

/** What the compiler says of each decorator, `null` where it is content. */
function judged(decorators: readonly string[]): (string | null)[] {
  const path = fileURLToPath(new URL('../../tsconfig.base.json', import.meta.url));
  const { config } = ts.readConfigFile(path, (file) => ts.sys.readFile(file)) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [] }, ts.sys, NEST);
  const all: ts.CompilerOptions = { ...options, noEmit: true, composite: false, incremental: false, types: ['node'] };
  const text = `${PROLOGUE}${decorators.map((decorator, n) => `${decorator} m${n}() {}`).join('\n')}\n}`;
  const host = ts.createCompilerHost(all);
  const real = { ...host };
  host.fileExists = (name) => name === FILE || real.fileExists(name);
  host.getSourceFile = (name, ...rest) =>
    name === FILE ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2023) : real.getSourceFile(name, ...rest);
  const program = ts.createProgram([FILE], all, host);
  const source = program.getSourceFile(FILE);
  const found = new Map<number, string>();
  for (const { start = 0, messageText } of program.getSemanticDiagnostics(source)) {
    const line = source?.getLineAndCharacterOfPosition(start).line ?? 0;
    found.set(line - PROLOGUE.split('\n').length + 1, ts.flattenDiagnosticMessageText(messageText, '\n'));
  }
  const inPrologue = [...found].filter(([line]) => line < 0);
  if (inPrologue.length > 0) throw new Error(`Expected the prologue to compile, got ${inPrologue.join()}.`);
  return decorators.map((_, n) => found.get(n) ?? null);
}

describe('SingletonCron with functions of the provider', () => {
  let verdicts: (string | null)[];
  // One compilation for all: it takes seconds.
  beforeAll(() => {
    verdicts = judged([...ACCEPTED, ...REFUSED.map(([decorator]) => decorator)]);
  });

  it('compiles, private members included, beside literals and with options of a variable', () => {
    expect(ACCEPTED.filter((_, n) => verdicts[n] !== null)).toEqual([]);
  });

  it.each(REFUSED.map(([decorator, sentence], n) => ({ decorator, sentence, n })))(
    'is an error of the compiler as $decorator',
    ({ sentence, n }) => {
      expect(verdicts[ACCEPTED.length + n]).toContain(sentence);
    },
  );
});
