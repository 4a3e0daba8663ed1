import { describe, expect, it } from 'vitest';
import { sometimesOf } from './observations.js';
import { closingLine, NEVER, type ChaosRun, type EpisodeVerdict } from './verdict.js';

const SEEN = Object.fromEntries(sometimesOf('redis').map((name) => [name, 1]));

function episode(over: Partial<EpisodeVerdict> = {}): EpisodeVerdict {
  const zero = Object.fromEntries(NEVER.map((name) => [name, 0])) as Record<(typeof NEVER)[number], number>;
  const counts = { occurrences: 10, uncertain: 1, controlDuplicates: 2, histories: 5, undecided: 0 };
  return { topology: 'single', ...zero, ...counts, longestStallMs: 0, seen: SEEN, findings: [], ...over };
}

function closing(episodes: readonly EpisodeVerdict[], faults: ChaosRun['faults'] = { sigkill: 3 }) {
  return closingLine({ seed: 7, ledger: 'redis', faults, processFaults: 3, maxStallMs: 3_000, episodes });
}

describe('the closing line', () => {
  it('is ok when nothing happened that must not, and everything that has to', () => {
    expect(closing([episode()])).toMatchObject({ ok: true, seed: 7, occurrences: 10, never: [] });
  });

  it.each(NEVER)('is not ok with one %s', (name) => {
    expect(closing([episode(), episode({ [name]: 1 })])).toMatchObject({ ok: false, [name]: 1 });
  });

  it('is not ok when nothing happened twice that nothing protects', () => {
    expect(closing([episode({ controlDuplicates: 0 })]).ok).toBe(false);
  });

  it('is not ok when a fault never struck, or a branch was never taken, and names it', () => {
    expect(closing([episode()], { sigkill: 3, 'redis-frozen': 0 })).toMatchObject({
      ok: false,
      never: ['redis-frozen'],
    });
    expect(closing([episode({ seen: { ...SEEN, takeover: 0 } })])).toMatchObject({ ok: false, never: ['takeover'] });
  });

  it('is not ok when a cron stood still for longer than its form allows after all was healed', () => {
    const [short, long] = [episode({ longestStallMs: 3_000 }), episode({ longestStallMs: 3_001 })];
    expect(closing([short, episode()])).toMatchObject({ ok: true, longestStallMs: 3_000 });
    expect(closing([short, long])).toMatchObject({ ok: false, longestStallMs: 3_001 });
  });

  it('adds its episodes up, and says of which one a finding is', () => {
    const second = episode({ topology: 'sentinel', findings: ['x is missed'] });
    expect(closing([episode(), second])).toMatchObject({
      ...{
        occurrences: 20,
        controlDuplicates: 4,
        topologies: ['single', 'sentinel'],
        findings: ['sentinel: x is missed'],
      },
      seen: { takeover: 2 },
    });
  });
});
