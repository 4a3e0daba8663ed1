import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { fencepost } from '../support/fencepost.js';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = ['test/support/run-source.mjs', 'test/programs/fencepost.ts', 'torture'];
const APP = ['--app', 'examples/tortured.ts', '--rounds', '0', '--seconds', '100'];

interface Ended {
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}

/** As a process, which reads the module as Node does. */
function tortureAsProgram(...args: readonly string[]): Promise<Ended> {
  const env = { ...process.env, COLUMNS: '110', NO_COLOR: '1' };
  return new Promise((resolve) => {
    execFile(process.execPath, [...PROGRAM, ...args], { cwd: ROOT, env }, (error, out, err) =>
      resolve({ code: error?.code ?? 0, out, err }),
    );
  });
}

const torture = (...args: readonly string[]): Promise<Ended> => fencepost(['torture', ...args], { width: 110 });

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function moduleOf(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fencepost-torture-'));
  folders.push(folder);
  await writeFile(join(folder, 'app.mjs'), text);
  return join(folder, 'app.mjs');
}

describe('fencepost torture', { timeout: 120_000 }, () => {
  it('finds the effects of the example that are not safe, and says what to do', async () => {
    const { code, out } = await tortureAsProgram(...APP);
    expect(code).toBe(1);
    expect(out).toMatch(/^JOB +EFFECT +CALLS +VERDICT +WHY$/m);
    expect(out).toMatch(/^invoices +charge +\d+ +safe +It looks at its idempotencyKey/m);
    expect(out).toMatch(/^refund +refund +\d+ +UNSAFE +Called 2 times in one run, and never looked at/m);
    expect(out).toMatch(/^refund +mail-1893456000000 +\d+ +UNSAFE +Another attempt of the same run called it/m);
    expect(out).toMatch(/: 2 effects are NOT safe\.\n$/);
  });

  it('answers a program with one line, whose replay shows the same again', async () => {
    const { out } = await torture(...APP, '--job', 'refund', '--json');
    const said = JSON.parse(out.trimEnd().split('\n').at(-1) ?? '') as { effects: readonly { replay: string }[] };
    expect(said).toMatchObject({ ok: false, seed: 1, job: 'refund', runs: expect.any(Number), mishaps: { crash: 12 } });
    const [refund] = said.effects;
    expect(refund).toMatchObject({ name: 'refund', safe: false, reasons: [expect.stringContaining('Called 2 times')] });
    const words = refund?.replay.split(' ').slice(2) ?? [];
    const again = await torture(...words, '--json');
    expect(again.code).toBe(1);
    expect(JSON.parse(again.out)).toMatchObject({ runs: 2, effects: [{ name: 'refund', safe: false }, {}] });
  });

  it.each([
    ['a module that is not there', ['--app', 'nowhere.mjs'], 'a module that Node can import, got "nowhere.mjs"'],
    ['a job that is not there', ['--app', 'examples/tortured.ts', '--job', 'refunds'], 'Did you mean "refund"?'],
    ['a program that is deployed', ['--app', 'examples/nightly-report.ts'], 'give the module that provides the jobs'],
  ])('refuses %s with one sentence and 1', async (_, args, sentence) => {
    const ended = await torture(...args);
    expect(ended).toMatchObject({ code: 1, out: '', err: expect.stringContaining(sentence) });
    expect(ended.err.trimEnd().split('\n')).toHaveLength(1);
  });

  it('refuses a module that throws when it is imported, and one that has no jobs', async () => {
    const throws = await torture('--app', await moduleOf("throw new Error('the config is missing');"));
    expect(throws).toMatchObject({ code: 1, err: expect.stringContaining('the config is missing.') });
    const empty = await torture('--app', await moduleOf('export const nothing = 1;'));
    expect(empty).toMatchObject({ code: 1, err: expect.stringContaining('got none there') });
  });
});
