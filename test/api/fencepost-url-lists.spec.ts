import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { until } from '../support/until.js';
import { startTwoWays, type TwoWays } from '../support/two-ways.js';

let ways: TwoWays;
beforeAll(async () => {
  ways = await startTwoWays();
  await ways.crons('a-quiet', 'failing', 'nightly', 'paused');
  await ways.ended('failing', 'failed');
  await ways.ended('nightly', 'uncertain');
  await ways.ask('direct', ['pause', 'paused', '--reason', 'a flood']);
  await until('the console has read each history', async () => {
    const { json } = await ways.ask('remote', ['top', '--json']);
    return (json as { totals: { unknown: number } }).totals.unknown === 0;
  });
});
afterAll(() => ways.running.close());

describe('by way of a console, a list of crons', { timeout: 60_000 }, () => {
  it.each([
    [
      ['--sort', 'attention'],
      ['nightly', 'failing', 'paused', 'a-quiet'],
    ],
    [['--failing'], ['failing']],
    [['--state', 'paused'], ['paused']],
    [['--search', 'IN'], ['failing']],
  ])('has the crons of a direct one in their order: %j', async (flags, names) => {
    for (const way of ['direct', 'remote'] as const) {
      const said = await ways.ask(way, ['list', ...flags, '-o', 'name']);
      expect([way, said]).toMatchObject([way, { code: 0, out: names.map((name) => `${name}\n`).join(''), err: '' }]);
    }
  });

  it('asks the console for the crons it shows, and for no others', async () => {
    const asked = vi.spyOn(globalThis, 'fetch');
    const few = await ways.ask('remote', ['list', '--limit', '1', '-o', 'name']);
    const wide = await ways.ask('remote', ['list', '--state', 'uncertain', '-o', 'wide']);
    const failing = await ways.ask('remote', ['list', '--failing', '-o', 'name']);
    const requests = asked.mock.calls.map(([request]) => new URL((request as Request).url).search);
    asked.mockRestore();
    expect(few.out).toBe('a-quiet\n');
    expect(few.err).toMatch(/^1 of 4 crons: --all shows all of them, --after \S+ the next ones\.\n$/);
    expect(wide.out).toMatch(/^CRON .* TAGS [^]*\nnightly .* uncertain/);
    expect(failing).toMatchObject({ out: 'failing\n', err: '' });
    expect(requests).toEqual([
      '?sort=name&limit=1',
      '?sort=name&state=uncertain&limit=500',
      ...['?sort=name&state=failing&limit=500', '?state=unknown&sort=name&limit=1'],
    ]);
  });

  it('shows the same crons and totals live', async () => {
    const [direct, remote] = [await ways.ask('direct', ['top', '--json']), await ways.ask('remote', ['top', '--json'])];
    const [seen, other] = [remote.json, direct.json] as Record<
      'totals' | 'crons',
      readonly { readonly name: string }[]
    >[];
    expect(seen?.totals).toMatchObject({ total: 4, uncertain: 1, failing: 1, paused: 1 });
    expect(other?.totals).toEqual(seen?.totals);
    expect(seen?.crons.map(({ name }) => name)).toEqual(['nightly', 'failing', 'paused', 'a-quiet']);
    expect(other?.crons.map(({ name }) => name)).toEqual(seen?.crons.map(({ name }) => name));
  });
});
