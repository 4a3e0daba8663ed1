import { afterEach, describe, expect, it } from 'vitest';
import { JobHandler } from '@fencepost/jobs';
import type { RunContext } from '@fencepost/jobs';
import { testJobs, type TestJobs } from '@fencepost/testing';

class Odd {
  handle: (run: RunContext) => Promise<unknown> = async () => undefined;

  @JobHandler('odd', { retry: { attempts: 3, delay: '1s' } })
  async odd(run: RunContext): Promise<unknown> {
    return this.handle(run);
  }
}

let kit: TestJobs;
afterEach(() => expect(kit.clock.pending).toBe(0));

async function odd(handle: Odd['handle']): Promise<Odd> {
  const job = new Odd();
  job.handle = handle;
  kit = await testJobs({ crons: [job] });
  return job;
}

const circle: { self?: unknown } = {};
circle.self = circle;

describe('a result', () => {
  it.each([
    ['of 10 MB', 'x'.repeat(10_000_000), '64 KiB'],
    ['that is a circle', circle, 'circular'],
    ['with a BigInt in it', { amount: 42n }, 'BigInt'],
    ['that is a function', () => 1, 'not data'],
  ])('%s fails its run at once, and says what to return instead', async (_what, result, because) => {
    let calls = 0;
    await odd((run) =>
      run.effect('charge', () => {
        calls += 1;
        return result;
      }),
    );
    const run = await kit.enqueue('odd');
    await kit.drain();
    const { state, error } = await kit.run(run);
    expect([state, calls]).toEqual(['failed', 1]);
    expect(error).toContain(because);
    expect(error).toContain('plain data of at most 64 KiB');
  });

  it.each([
    ['with a key __proto__', JSON.parse('{"__proto__":{"polluted":true},"a":1}') as unknown],
    ['with newlines, quotes and emoji', { text: 'line\nline\r\n"quoted" \\ \u2028 🦊 \u0000' }],
    ['that is nothing', null],
    ['that is -0 and large', { zero: 0, large: 2 ** 53, small: 1e-300 }],
  ])('%s comes back as it was in the next attempt', async (_what, result) => {
    const seen: unknown[] = [];
    await odd(async (run) => {
      seen.push(await run.effect('charge', () => result));
      if (run.attempt === 1) throw new Error('once more');
    });
    await kit.enqueue('odd');
    await kit.drain();
    expect(seen.map((one) => JSON.stringify(one))).toEqual([JSON.stringify(result), JSON.stringify(result)]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe('a name', () => {
  it.each(['__proto__', 'constructor', 'line\nline', 'a/b', 'a:b', '{x}', ' ', '🦊', 'ﬁ'])(
    '%j is an effect of its own, and known in the next attempt',
    async (name) => {
      const calls: string[] = [];
      await odd(async (run) => {
        await run.effect(name, ({ idempotencyKey }) => calls.push(idempotencyKey));
        await run.effect(`${name}/`, () => calls.push('another'));
        if (run.attempt === 1) throw new Error('once more');
      });
      const run = await kit.enqueue('odd');
      await kit.drain();
      expect(calls).toEqual([`${run.id}/${name}`, 'another']);
      expect((await kit.run(run)).effects.map((effect) => effect.name)).toEqual([name, `${name}/`]);
    },
  );

  it('with a NUL, or none, is refused for good', async () => {
    for (const name of ['a\u0000b', '']) {
      await odd((run) => run.effect(name, () => expect.unreachable()));
      expect(await kit.enqueue('odd')).toMatchObject({ state: 'failed', error: expect.stringContaining('EffectName') });
    }
  });
});

describe('a payload', () => {
  it('of 10 MB is refused before there is a run', async () => {
    await odd(async () => undefined);
    await expect(kit.enqueue('odd', 'x'.repeat(10_000_000))).rejects.toThrow(
      'at most 1048576 bytes as JSON, got 10000002',
    );
    expect(await kit.runs('odd')).toEqual([]);
  });
});

describe('a build with other effects', () => {
  it('knows those of the one before, does what is new, and leaves alone what it no longer has', async () => {
    const calls: string[] = [];
    const effect = (run: RunContext, name: string) => run.effect(name, () => void calls.push(`${run.attempt} ${name}`));
    const job = await odd(async (run) => {
      await effect(run, 'charge');
      await effect(run, 'fax');
      throw new Error('the old build breaks here');
    });
    const run = await kit.enqueue('odd');
    job.handle = async (next) => {
      await effect(next, 'mail');
      await effect(next, 'charge');
    };
    await kit.drain();
    expect(calls).toEqual(['1 charge', '1 fax', '2 mail']);
    expect(await kit.run(run)).toMatchObject({ state: 'succeeded', attempt: 2 });
    expect((await kit.run(run)).effects.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'charge done',
      'fax done',
      'mail done',
    ]);
  });
});
