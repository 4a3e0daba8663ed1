import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../scripts/build.mjs';
import { chaos } from '../chaos/chaos.js';
import { SHORT } from '../chaos/forms.js';
import { NEVER } from '../chaos/verdict.js';

/** On a busy machine each process takes long to start again. */
const WITHIN = { timeout: 600_000 };
/** The time in which the faults strike; it goes on until each kind has struck. */
const SECONDS = 24;

/* The whole of it is `npm run chaos`. Here is a part that any machine gets through, whatever else it does meanwhile. */
describe('chaos on real processes', () => {
  beforeAll(() => ensureBuilt({ pods: true }), 600_000);

  it.each([
    ['in Redis, and deploys,', { ledger: 'redis', deploys: true, seed: 20_261 }],
    ['in PostgreSQL and Redis wiped', { ledger: 'postgres', wipeRedis: true, seed: 20_262 }],
  ] as const)('with the ledger %s loses nothing, doubles nothing and ends', WITHIN, async (_, how) => {
    const result = await chaos({ seconds: SECONDS, ...how, form: SHORT });
    const told = JSON.stringify(result);
    expect(Object.fromEntries(NEVER.map((name) => [name, result[name]])), told).toEqual(
      Object.fromEntries(NEVER.map((name) => [name, 0])),
    );
    expect(result.fallen, told).toEqual([]);
    expect(result.controlDuplicates, told).toBeGreaterThan(0);
    expect(result, told).toMatchObject({ ok: true, never: [] });
  });
});
