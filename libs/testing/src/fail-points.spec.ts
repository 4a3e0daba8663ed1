import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryStore, postgresStore, redisStore, type EffectStore } from '../../../test/effects/effect-stores.js';
import { cases, tryOut, type Case, type Verdict, ANSWERS, MISHAPS, STEPS } from './fail-points.stage.js';
import { format, resolveConfig } from 'prettier';

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

export const TABLE = new URL('../../../docs/effects-fail-points.md', import.meta.url);

const HEADINGS: Readonly<Record<Case['answer'], string>> = {
  retry: "`'retry'`",
  ask: "`'ask'`",
  done: 'lookup always says done',
  'not-done': 'lookup always says not-done',
  unknown: 'lookup always says unknown',
  truth: 'lookup says the truth',
};

const MISHAP: Readonly<Record<Case['mishap'], string>> = {
  crash: 'killed',
  freeze: 'frozen',
  lose: 'message lost',
};

const INTRODUCTION = `# Fail points of an effect

One run with one effect and up to five attempts. Each row is one fault: where it strikes, and what it is. Each column is one
\`ifUnknown\` policy. The suite measures the table over every ledger: \`libs/testing/src/fail-points.spec.ts\` fails when it is no longer
true, and rewrites it with \`UPDATE_TABLES=1\`.

A cell says how the run ends · how often the effect's function was called · how often the provider executed it, and in brackets how
often a provider does that honours the idempotency key. \`✓\` stands for _succeeded · 1 · 1 (1)_.

- **killed**: as by \`kill -9\`; the run lease expires and another worker takes over.
- **frozen**: the worker stands still until another one has taken over and finished, then continues.
- **message lost**: the request before a write, the reply after it. For the function: the connection to the provider breaks before or
  after the provider executed the request, and the function throws \`EffectUnknownError\`.
- **before and after \`fn\`**: the function was called, and the provider has not or has executed it.
`;

const RIGHT: Verdict = { state: 'succeeded', calls: 1, applied: 1, appliedByKey: 1 };

export type Verdicts = ReadonlyMap<string, Verdict>;

export function keyOf({ step, when, mishap, answer }: Case): string {
  return [when, step, mishap, answer].join(' ');
}

/** The page as it is checked in. */
export async function rendered(verdicts: Verdicts): Promise<string> {
  const rows = STEPS.flatMap((step) =>
    (['before', 'after'] as const).flatMap((when) => MISHAPS.map((mishap) => rowOf(verdicts, { step, when, mishap }))),
  );
  const heading = ['where', 'what', ...ANSWERS.map((answer) => HEADINGS[answer])];
  const table = [heading, heading.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  return format(`${INTRODUCTION}\n${table}\n`, { ...(await resolveConfig(TABLE)), parser: 'markdown' });
}

function rowOf(verdicts: Verdicts, point: Omit<Case, 'answer'>): string[] {
  const cells = ANSWERS.map((answer) => cellOf(verdicts.get(keyOf({ ...point, answer }))));
  return [`${point.when} \`${point.step}\``, MISHAP[point.mishap], ...cells];
}

function cellOf(verdict: Verdict | undefined): string {
  if (verdict === undefined) return '?';
  const { state, calls, applied, appliedByKey } = verdict;
  const said = `${state} · ${calls} · ${applied} (${appliedByKey})`;
  return JSON.stringify(verdict) === JSON.stringify({ ...RIGHT }) ? '✓' : said;
}
