import type { Finding } from '@fencepost/lease/internal/redis-checks';
import { describe, expect, it } from 'vitest';
import type { PostgresSettings } from '@fencepost/ledger/durability';
import { recordedEvents } from '../../../../test/support/recorded.js';
import { rejectionOf } from '../../../../test/support/refusals.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { ClassificationError, checkCron } from './cron-declaration.js';
import { checkClassification, type ClassifiedHandler } from './classification.js';

const NOW = Date.UTC(2030, 0, 1);
const SAFE: PostgresSettings = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' };

function handler(
  name: string,
  options: object = { criticality: 'correctness' },
  expression = '@daily',
): ClassifiedHandler {
  const where = `Jobs.${name}`;
  return { where, ...checkCron(where, { expression, options: { name, ...options } }, NOW) };
}

interface Found {
  readonly ledger?: 'redis' | 'postgres';
  readonly redis?: readonly Finding[];
  readonly postgres?: PostgresSettings;
}

/** A check of these handlers over a store of which this was found. */
function checked(
  handlers: readonly ClassifiedHandler[],
  { ledger = 'redis', redis = [], postgres = SAFE }: Found = {},
) {
  const telemetry = new Telemetry();
  const events = recordedEvents(telemetry);
  const asked: unknown[] = [];
  const probes = {
    redis: async (demands: object) => {
      asked.push(demands);
      return redis;
    },
    postgres: async () => {
      asked.push('postgres');
      return postgres;
    },
  };
  const done = checkClassification({ handlers, settings: { ledger, waitReplicas: 1 }, probes, telemetry });
  return { done, asked, doubtful: () => events.of('classification.doubtful') };
}

const finding = (code: Finding['code'], danger: Finding['danger']): Finding => ({
  code,
  danger,
  message: `${code} here.`,
});

async function refusalIn(done: Promise<void>): Promise<ClassificationError> {
  const error = await rejectionOf(done);
  if (error instanceof ClassificationError) return error;
  throw error;
}

describe('the classification of jobs', () => {
  it('asks nobody anything while a duplicate costs only work', async () => {
    const { done, asked } = checked([handler('a', {}), handler('b', { overlap: 'allow' })], {
      redis: [finding('NO_PERSISTENCE', 'refuse')],
    });
    await done;
    expect(asked).toEqual([]);
  });

  it('asks what the store can promise to a job for which a duplicate is damage', async () => {
    const { done, asked, doubtful } = checked([handler('a', {}), handler('b')]);
    await done;
    expect(asked).toEqual([{ criticality: 'correctness', awaitedReplicas: 1 }]);
    expect(doubtful()).toEqual([]);
  });

  it('refuses to start with one sentence: which jobs, what was found, which line to change', async () => {
    const redis = [
      finding('NO_PERSISTENCE', 'refuse'),
      finding('ASYNC_REPLICATION', 'refuse'),
      finding('UNCHECKED', 'warn'),
    ];
    const { done, doubtful } = checked([handler('a'), handler('b', {}), handler('c')], { redis });
    const error = await refusalIn(done);
    expect(error.message).toBe(
      'The ledger may lose acknowledged writes, which criticality "correctness" does not allow at Jobs.a ("a"), ' +
        'Jobs.c ("c"). After such a loss, runs and effects would be repeated. Found: ' +
        'NO_PERSISTENCE here. ASYNC_REPLICATION here. Change one of these lines: "appendonly yes" in redis.conf and ' +
        '"waitReplicas: 1" in the options of JobsModule; ' +
        '"ledger: \'postgres\'" in the options of JobsModule; "criticality: \'efficiency\'" at the method.',
    );
    expect(error.code).toBe('CLASSIFICATION');
    expect(doubtful()).toEqual([{ crons: ['a', 'c'], found: 'UNCHECKED here.' }]);
  });

  it('names some of many jobs', async () => {
    const handlers = Array.from({ length: 8 }, (_, n) => handler(`j${n}`));
    const { done } = checked(handlers, { redis: [finding('EVICTION', 'refuse')] });
    const { message } = await refusalIn(done);
    expect(message).toContain('Jobs.j4 ("j4"), and 3 more.');
    expect(message).not.toContain('j5');
  });

  it('names no line where none would help', async () => {
    const { done } = checked([handler('a')], { redis: [finding('OLD_VERSION', 'refuse')] });
    const { message } = await refusalIn(done);
    expect(message).toContain(`Change one of these lines: "ledger: 'postgres'"`);
  });

  it('starts with a warning where the store promises nearly enough', async () => {
    const { done, doubtful } = checked([handler('a')], { redis: [finding('APPEND_FSYNC', 'warn')] });
    await done;
    expect(doubtful()).toEqual([{ crons: ['a'], found: 'APPEND_FSYNC here.' }]);
  });

  it('does not ask Redis where the ledger is in PostgreSQL', async () => {
    const { done, asked } = checked([handler('a')], { ledger: 'postgres', redis: [finding('EVICTION', 'refuse')] });
    await done;
    expect(asked).toEqual(['postgres']);
  });

  it.each(['fsync', 'synchronous_commit'])(
    'refuses a PostgreSQL that acknowledges before it has written: %s',
    async (name) => {
      const { done } = checked([handler('a')], { ledger: 'postgres', postgres: { ...SAFE, [name]: 'off' } });
      const { message } = await refusalIn(done);
      expect(message).toContain(`Expected ${name} on in PostgreSQL, found off`);
      expect(message).toContain(`Change one of these lines: "${name} = on" in postgresql.conf`);
      expect(message).not.toContain("ledger: 'postgres'");
    },
  );

  it.each(['on', 'local', 'remote_apply'])('lets PostgreSQL say %s of its commits', async (level) => {
    const { done, doubtful } = checked([handler('a')], {
      ledger: 'postgres',
      postgres: { ...SAFE, synchronous_commit: level },
    });
    await done;
    expect(doubtful()).toEqual([]);
  });

  const STANDBY = { ...SAFE, standbys: '1', synchronous_standby_names: '' };

  it.each([
    ['no standby is waited for', STANDBY],
    ['commits wait for none', { ...STANDBY, synchronous_standby_names: 'ANY 1 (*)', synchronous_commit: 'local' }],
  ])('refuses a PostgreSQL with a standby where %s, and names the word that accepts it', async (_, postgres) => {
    const { message } = await refusalIn(checked([handler('a')], { ledger: 'postgres', postgres }).done);
    expect(message).toContain('a failover may lose what was committed');
    expect(message).toContain(`synchronous_standby_names = 'ANY 1 (*)'`);
    expect(message).toContain(`SET fencepost.asynchronous_standby = 'accepted'`);
  });

  it.each([
    ['waits for a standby', { ...STANDBY, synchronous_standby_names: 'ANY 1 (*)' }],
    ['has none', { ...STANDBY, standbys: '0' }],
    ['was accepted with an asynchronous one', { ...STANDBY, 'fencepost.asynchronous_standby': 'accepted' }],
  ])('starts on a PostgreSQL that %s', async (_, postgres) => {
    await expect(checked([handler('a')], { ledger: 'postgres', postgres }).done).resolves.toBeUndefined();
  });

  it('warns of pages that can not be mended', async () => {
    const { done, doubtful } = checked([handler('a')], {
      ledger: 'postgres',
      postgres: { ...SAFE, full_page_writes: 'off' },
    });
    await done;
    expect(doubtful()).toHaveLength(1);
  });

  it('warns of a schedule whose runs may overlap, and not of a job that is asked for', async () => {
    const options = { criticality: 'correctness', overlap: 'allow' };
    const { done, doubtful } = checked([handler('a', options), handler('b', options, '@manual')]);
    await done;
    expect(doubtful()).toMatchObject([
      { found: expect.stringContaining('Expected Jobs.a not to have overlap "allow"') },
    ]);
  });

  it('fails when the store can not be asked', async () => {
    const probes = { redis: async () => Promise.reject(new Error('away')), postgres: async () => SAFE };
    const settings = { ledger: 'redis', waitReplicas: 0 } as const;
    const handlers = [handler('a')];
    await expect(checkClassification({ handlers, settings, probes, telemetry: new Telemetry() })).rejects.toThrow(
      'away',
    );
  });
});
