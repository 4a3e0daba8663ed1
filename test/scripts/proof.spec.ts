import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Clone } from './clone.js';

interface Closing {
  readonly ok: boolean;
  readonly form: string;
  readonly proofs: readonly {
    readonly name: string;
    readonly args: string;
    readonly ok: boolean;
    readonly code: number;
  }[];
}

/** Stands for the programs of the tests: says what it was asked, and fails where `fails` is part of its name. */
function runner(fails: string): string {
  return `const [file, ...args] = process.argv.slice(2);
    console.error('about', file);
    const ok = ${JSON.stringify(fails)} === '' || !file.includes(${JSON.stringify(fails)});
    console.log(JSON.stringify({ ok, file: file.split('/').at(-1), args: args.join(' ') }));
    process.exitCode = ok ? 0 : 1;`;
}

let clone: Clone;
beforeEach(() => {
  clone = new Clone();
  clone.compiler('tsc', 'mkdir -p apps/demo/dist && cp apps/demo/src/main.ts apps/demo/dist/main.js');
  clone.write('test/support/run-source.mjs', runner(''));
});
afterEach(() => clone.discard());

const proof = (...args: string[]) => clone.start(['scripts/proof.mjs', ...args]).ended;

async function closingOf(...args: string[]): Promise<Closing & { readonly exit: number | null }> {
  const { code, out, err } = await proof(...args);
  const lines = out.trim().split('\n');
  expect(lines, err).toHaveLength(1);
  return { ...(JSON.parse(lines[0] ?? '') as Closing), exit: code };
}

describe('npm run proof', () => {
  it('runs every proof in its short form, and closes with one line', async () => {
    const { proofs, ...rest } = await closingOf('--short', '--json');
    expect(rest).toMatchObject({ ok: true, form: 'short', exit: 0 });
    expect(proofs.map(({ name }) => name)).toEqual(['model', 'sim', 'fleet', 'chaos', 'chaos', 'torture', 'mutants']);
    expect(proofs[0]).toEqual({
      ...{ name: 'model', args: '--quick', ok: true, code: 0, seconds: expect.any(Number) },
      result: { ok: true, file: 'run-model.ts', args: '--quick --json' },
    });
    expect(proofs.map(({ args }) => args).join(' ')).toContain('--short --seconds 24 --ledger postgres');
  });

  it('goes on after a proof that failed, and fails', async () => {
    clone.write('test/support/run-source.mjs', runner('run-sim'));
    const { proofs, ...rest } = await closingOf('--only', 'sim,mutants', '--json');
    expect(rest).toMatchObject({ ok: false, form: 'long', exit: 1 });
    expect(proofs.map(({ name, ok, code }) => [name, ok, code])).toEqual([
      ['sim', false, 1],
      ['mutants', true, 0],
    ]);
  });

  it('counts a proof as failed that ends well without a closing line', async () => {
    clone.write('test/support/run-source.mjs', '');
    expect(await closingOf('--only=model', '--json')).toMatchObject({
      ok: false,
      proofs: [{ ok: false, result: null }],
    });
  });

  it('without --json tells on stdout what it runs, and the last line is the same', async () => {
    const lines = (await proof('--short', '--only', 'model')).out.trim().split('\n');
    expect(lines.slice(0, 2)).toEqual(['model --quick ...', expect.stringMatching(/^ok {3}model --quick \(\d+ s\)$/)]);
    expect(JSON.parse(lines[2] ?? '')).toMatchObject({ ok: true });
  });

  it('runs one proof with arguments of its own, and leaves stdout to it', async () => {
    const { code, out } = await proof('sim', '--seed', '7', '--json');
    expect([code, JSON.parse(out)]).toEqual([0, { ok: true, file: 'run-sim.ts', args: '--seed 7 --json' }]);
  });

  it.each([['--only=luck'], ['--seconds=3'], ['luck']])('refuses %s with one sentence', async (arg) => {
    const { code, out, err } = await proof(arg);
    expect([code, out, err.trim().split('\n').length]).toEqual([1, '', 1]);
  });

  it('explains itself', async () => {
    expect((await proof('--help')).out).toContain('--short');
  });
});
