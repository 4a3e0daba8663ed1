import { randomUUID } from 'node:crypto';
import { parseFence, systemClock } from '@fencepost/lease';
import { MemoryLeaseStore } from '@fencepost/lease/testing';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CatalogReading } from '@fencepost/ledger/catalog';
import type { ClaimRequest, Ledger } from '@fencepost/ledger';
import { MemoryAuditTrail, MemoryLedger } from '@fencepost/ledger/memory';
import { migrateLedger, PostgresLedger } from '@fencepost/ledger/postgres';
import { RedisLedger } from '@fencepost/ledger/redis';
import { Timelines, ExplainService } from '@fencepost/operations';
import { SCHEMAS, presentTimeline, presentWhyReport } from '@fencepost/operations/presenting';
import { RedisJournal } from '@fencepost/operations/journal';
import { CRON, definitionOf, entryOf, HOUR, SECOND } from '../support/audit-history.js';
import { freshSchema, postgresForTests, type TestPostgres } from '../support/postgres.js';
import { claim, claimOf } from './audit-stores.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const schema = freshSchema();
let postgres: TestPostgres;
let pool: Pool;
beforeAll(async () => {
  postgres = await postgresForTests();
  pool = new Pool({ connectionString: postgres.url, max: 2 });
  await migrateLedger(pool, { schema });
});
afterAll(async () => {
  await pool.query(`drop schema if exists "${schema}" cascade`);
  await pool.end();
});

/** A cron that fires each second since an hour ago, and what became of its first seconds. */
class History {
  readonly born = Math.floor(Date.now() / SECOND) * SECOND - HOUR;
  readonly leases = new MemoryLeaseStore({ clock: systemClock });
  readonly trail = new MemoryAuditTrail({ clock: systemClock });

  #journal: RedisJournal | undefined;

  constructor(readonly ledger: Ledger) {}

  /** A history is described before there is a connection. */
  get journal(): RedisJournal {
    return (this.#journal ??= new RedisJournal({ redis: spaces.redis(), ...spaces.fresh() }));
  }

  readonly catalog = {
    read: async (): Promise<CatalogReading> => {
      const definition = definitionOf();
      const generation = { generation: 1, state: 'active', definition, since: this.born, by: 'a test', reason: null };
      return { version: 1, readAt: Date.now(), entries: [entryOf([{ ...generation, state: 'active' }])] };
    },
  };

  at(second: number): number {
    return this.born + second * SECOND;
  }

  idOf(second: number): string {
    return `${CRON}@${this.at(second)}`;
  }

  claim(second: number, over: Partial<ClaimRequest> = {}) {
    return claim(this.ledger, claimOf({ scheduledAt: this.at(second), ...over }));
  }

  async begin(second: number) {
    const [runId, nonce] = [this.idOf(second), randomUUID()];
    const begun = await this.ledger.begin({ runId, nonce, worker: 'worker/1', ttlMs: 60_000, maxAttempts: 3 });
    if (begun.verdict !== 'begun') throw new Error(`Expected to begin, got ${begun.verdict}.`);
    return { runId, nonce, fence: begun.fence };
  }

  /** 1 ran with an effect, 2 goes on, 3 met it, 4 was paused, 5 and 6 were merged into 7, which waits; then nobody came. */
  async make(): Promise<this> {
    await this.claim(1);
    const first = await this.begin(1);
    await this.ledger.beginEffect(first, { name: 'card', ifUnknown: 'go' });
    await this.ledger.finishEffect(first, 'card', { kind: 'done', result: '7' });
    await this.ledger.finish(first, { kind: 'succeeded' });
    await this.claim(2);
    await this.begin(2);
    await this.claim(3, { overlap: 'skip' });
    await this.ledger.pause(CRON, { by: 'ann', reason: 'a flood', until: null });
    await this.#ordered('pause', 'ann');
    await this.claim(4);
    await this.ledger.resume(CRON);
    await this.#ordered('resume', 'bob');
    const skips = [{ after: this.at(4), through: this.at(6), reason: 'merged' as const }];
    const missed = { count: 2, from: this.at(5), to: this.at(6) };
    const occurrence = { scheduledAt: this.at(7), dueAt: this.at(7), reason: 'catch-up' as const, missed };
    await this.claim(7, { skips, occurrence });
    await this.ledger.noteWaiting(this.idOf(7), 'no-capable-worker');
    const about = { pod: 'pod/1', role: 'worker', cron: CRON, level: 'warn' } as const;
    const detail = { attempt: 1, fence: '3', step: 'finish' };
    await this.journal.append([{ ...about, event: 'attempt.refused', runId: this.idOf(1), detail }]);
    await this.leases.acquire({ resource: CRON, nonce: 'n', holder: 'pod/1', ttlMs: 60_000, floor: parseFence('9') });
    return this;
  }

  #ordered(action: string, by: string) {
    const words = { role: 'operator', reason: null, from: 'a test', before: null, after: null };
    return this.trail.append({ action, by, cron: CRON, runId: null, ...words });
  }
}

const STORES: readonly (readonly [string, () => Ledger])[] = [
  ['memory', () => new MemoryLedger(systemClock)],
  ['Redis', () => new RedisLedger({ redis: spaces.redis(), ...spaces.fresh() })],
  ['PostgreSQL', () => new PostgresLedger({ pool, schema, prefix: spaces.fresh().prefix, tenant: 'default' })],
];

describe.each(STORES)('what became of the instants of a cron, as the ledger in %s knows it,', (_, ledgerOf) => {
  let history: History;
  let service: ExplainService;
  beforeAll(async () => {
    history = await new History(ledgerOf()).make();
    service = new ExplainService(history);
  });

  it('is a line of all of them', async () => {
    const query = { from: history.at(0), to: history.at(3_600 * 2), limit: 100 };
    const line = await new Timelines(history).of(CRON, query);
    const said = line.items.slice(0, 7).map(({ outcome, reason, count }) => `${outcome} ${reason ?? ''} ${count}`);
    expect(said).toEqual([
      ...['late  1', 'running  1', 'skipped overlap 1', 'skipped paused 1', 'merged  2'],
      ...['waiting no-capable-worker 1', expect.stringMatching(/^waiting unclaimed 35\d\d$/)],
    ]);
    expect(line.items.at(-1)).toMatchObject({ outcome: 'ahead' });
    const json = presentTimeline(line);
    expect(SCHEMAS.Timeline.parse(JSON.parse(JSON.stringify(json)))).toEqual(json);
  });

  it.each([
    [1, 'late', 'no pod claimed it for', ['effect', 'The effect "card" is done']],
    [1, 'late', 'It ran late', ['fence', 'write refused: the attempt is stale']],
    [2, 'running', 'attempt 1 goes on', ['attempt', 'worker/1']],
    [3, 'overlap', 'was still going', ['overlap', 'and goes on']],
    [4, 'paused', 'ann had paused the cron', ['pause', 'bob resumed it']],
    [5, 'merged', 'covers it (', ['misfire', 'covers it']],
    [7, 'waiting', 'no live worker has its handler', ['misfire', '2 missed instants']],
    [8, 'due', 'pod/1 holds its lease', ['lease', 'pod/1 holds the lease of the cron']],
  ] as const)('second %i: %s', async (...[second, verdict, answer, [topic, words]]) => {
    const report = await service.why(CRON, history.at(second));
    expect(report).toMatchObject({ verdict, answer: expect.stringContaining(answer) });
    const said = report.steps.filter((step) => step.topic === topic).map(({ text }) => text);
    expect(said.join('\n')).toContain(words);
    const json = presentWhyReport(report);
    expect(SCHEMAS.WhyReport.parse(JSON.parse(JSON.stringify(json)))).toEqual(json);
  });

  it('is told of the last one, too', async () => {
    expect((await service.why(CRON, 'last')).at).toBeGreaterThan(history.at(3_500));
  });
});

describe('a question', () => {
  const history = new History(new MemoryLedger(systemClock));

  it('about an instant that was merged with many others finds the run that stands for them', async () => {
    const many = new History(new MemoryLedger(systemClock));
    const skips = [{ after: many.at(0), through: many.at(200), reason: 'merged' as const }];
    const missed = { count: 200, from: many.at(1), to: many.at(200) };
    const occurrence = { scheduledAt: many.at(201), dueAt: many.at(201), reason: 'catch-up' as const, missed };
    await many.claim(201, { skips, occurrence });
    const report = await new ExplainService(many).why(CRON, many.at(3));
    expect(report).toMatchObject({ verdict: 'merged', answer: expect.stringContaining(many.idOf(201)) });
  });

  it('about an instant that met a run from long before finds that run', async () => {
    const dense = new History(new MemoryLedger(systemClock));
    await dense.claim(1);
    await dense.begin(1);
    for (let second = 2; second <= 60; second += 1) await dense.claim(second, { overlap: 'skip' });
    const report = await new ExplainService(dense).why(CRON, dense.at(60));
    expect(report).toMatchObject({
      verdict: 'overlap',
      answer: expect.stringContaining(`${dense.idOf(1)} was still going`),
    });
  });

  it('is answered from the ledger alone while the audit trail, the journal and the leases are away', async () => {
    const away = () => Promise.reject(new Error('Connection is closed.'));
    const { catalog, ledger } = history;
    const [trail, journal, leases] = [{ list: away }, { ofCron: away }, { inspect: away }];
    const service = new ExplainService({ catalog, ledger, trail, journal, leases });
    expect(await service.why(CRON, history.at(9))).toMatchObject({ verdict: 'due' });
  });
});
