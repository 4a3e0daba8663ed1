import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryStore, postgresStore, redisStore, type EffectStore } from './effect-stores.js';
import { cases, tryOut, type Case, type Verdict } from './fail-point-lab.js';
import { keyOf, rendered, TABLE, type Verdicts } from './fail-point-table.js';

const STORES: readonly { readonly name: string; readonly make: () => EffectStore | Promise<EffectStore> }[] = [
  { name: 'memory', make: memoryStore },
  { name: 'Redis', make: redisStore },
  { name: 'PostgreSQL', make: postgresStore },
];

const ENDS = ['succeeded', 'failed', 'uncertain'];

async function measured(store: EffectStore): Promise<Verdicts> {
  const verdicts = new Map<string, Verdict>();
  const left = cases();
  const work = async () => {
    for (let one = left.shift(); one; one = left.shift())
      verdicts.set(keyOf(one), await tryOut(await store.sandbox(), one));
  };
  await Promise.all(Array.from({ length: store.atOnce }, work));
  return verdicts;
}

function told(verdicts: Verdicts, wanted: (of: Case) => boolean): [string, Verdict | undefined][] {
  return cases()
    .filter(wanted)
    .map((one) => [keyOf(one), verdicts.get(keyOf(one))]);
}

describe.each(STORES)('a worker that comes to harm over the ledger in $name', ({ name: ledger, make }) => {
  let store: EffectStore;
  let verdicts: Verdicts;

  beforeAll(async () => {
    store = await make();
    verdicts = await measured(store);
  }, 120_000);
  afterAll(() => store.close(), 60_000);

  it('leaves a run that ends, whatever happened and wherever', () => {
    for (const [name, verdict] of told(verdicts, () => true)) expect(ENDS, name).toContain(verdict?.state);
  });

  it("never has an effect carried out twice under 'ask'", () => {
    const asked = told(verdicts, ({ answer }) => answer === 'ask');
    for (const [name, verdict] of asked) {
      expect(verdict?.calls, name).toBeLessThanOrEqual(1);
      expect(verdict?.applied, name).toBeLessThanOrEqual(1);
    }
  });

  it('never has an effect happen more than once where the provider honours the key', () => {
    for (const [name, verdict] of told(verdicts, () => true))
      expect(verdict?.appliedByKey, name).toBeLessThanOrEqual(1);
  });

  it('has it happen exactly once where a lookup says what is true, and nobody froze on the way to the provider', () => {
    const frozen = ({ step, when, mishap }: Case) => step === 'fn' && when === 'before' && mishap === 'freeze';
    const looked = told(verdicts, (one) => one.answer === 'truth' && !frozen(one));
    for (const [name, verdict] of looked) expect([verdict?.state, verdict?.applied], name).toEqual(['succeeded', 1]);
    const late = told(verdicts, (one) => one.answer === 'truth' && frozen(one));
    for (const [, verdict] of late) expect(verdict).toMatchObject({ state: 'succeeded', applied: 2, appliedByKey: 1 });
  });

  it('does what the page says, cell by cell', async () => {
    const page = await rendered(verdicts);
    if (process.env['UPDATE_TABLES'] && ledger === 'memory') await writeFile(TABLE, page);
    expect(page).toBe(await readFile(TABLE, 'utf8'));
  });
});
