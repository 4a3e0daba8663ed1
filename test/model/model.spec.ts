import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { DEFENCES } from './defences.js';
import { QUICK_CONFIGURATIONS } from './bounds.js';

const RUNNER = fileURLToPath(new URL('../support/run-source.mjs', import.meta.url));
const PATIENCE_MS = 240_000;

interface Result {
  readonly ok: boolean;
  readonly spin: string;
  readonly configurations: readonly Record<'name' | 'states' | 'exhaustive' | 'errors', unknown>[];
  readonly defences: readonly Record<'name' | 'counterexample' | 'steps', unknown>[];
}

async function model(...args: readonly string[]) {
  const child = spawn(process.execPath, [RUNNER, 'test/model/run-model.ts', ...args], {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { out, err, code: code as number };
}

describe('the model', () => {
  let run: Awaited<ReturnType<typeof model>>;
  let result: Result;
  beforeAll(async () => {
    run = await model('--quick', '--json');
    result = JSON.parse(run.out.trim().split('\n').at(-1) ?? '') as Result;
  }, PATIENCE_MS);

  it('holds in every state of every small room', () => {
    const models = QUICK_CONFIGURATIONS.map(({ name }) =>
      expect.objectContaining({ name, exhaustive: true, errors: 0 }),
    );
    expect(result.configurations).toEqual(models);
  });

  it('does damage without any single defence', () => {
    const missed = DEFENCES.map(({ name, property }) =>
      expect.objectContaining({ name, property, counterexample: true, steps: expect.any(Number) }),
    );
    expect(result.defences).toEqual(missed);
  });

  it('prints the way to the damage in words', () => {
    expect(run.err).toContain('claims instant 0 under fence 2 -> CLAIMED');
    expect(run.err).toContain('=> I7 is broken: an effect that asks never happens twice by itself');
    expect(run.err).not.toMatch(/#\d/);
  });

  it('says that it holds', () => {
    expect([result.ok, run.code]).toEqual([true, 0]);
  });

  it(
    'refuses a defence that it does not know',
    async () => {
      const { err, code } = await model('--only', 'LUCK');
      expect(code).toBe(1);
      expect(err).toContain('Expected --only to name a defence, got "LUCK"');
    },
    PATIENCE_MS,
  );
});
