import { describe, expect, it } from 'vitest';
import { factsOfInfo, measureClock, judgeHistory, judgeServer, type Demands } from './server-judgement.js';
import type { ServerFacts } from './server-judgement.js';
import { ManualClock } from '../testing/manual-clock.js';

const FLAWLESS: ServerFacts = {
  address: 'cache:6379',
  version: '7.0.15',
  role: 'master',
  clustered: false,
  runId: 'run-1',
  replicationId: 'history-1',
  formerReplicationId: '0000',
  evictionPolicy: 'noeviction',
  evictedKeys: 0,
  usedBytes: 1_000,
  limitBytes: 0,
  appendOnly: true,
  appendFails: false,
  appendFsync: 'always',
  snapshots: '3600 1',
  replicas: 0,
  guardsReplicas: false,
  clock: { aheadMs: 3, uncertainMs: 1 },
  unasked: [],
};

const EFFICIENCY: Demands = { criticality: 'efficiency' };
const CORRECTNESS: Demands = { criticality: 'correctness' };

function verdict(over: Partial<ServerFacts>, demands: Demands): string[] {
  return judgeServer({ ...FLAWLESS, ...over }, demands).map(({ code, danger }) => `${danger} ${code}`);
}

describe('judgeServer', () => {
  it('finds nothing wrong where nothing is', () => {
    expect(judgeServer(FLAWLESS, CORRECTNESS)).toEqual([]);
  });

  it.each<[string, Partial<ServerFacts>, (string | null)[]]>([
    ['another policy', { evictionPolicy: 'allkeys-lru' }, ['refuse EVICTION', 'refuse EVICTION']],
    ['a policy for what expires', { evictionPolicy: 'volatile-ttl' }, ['refuse EVICTION', 'refuse EVICTION']],
    ['an old version', { version: '6.0.16' }, ['refuse OLD_VERSION', 'refuse OLD_VERSION']],
    ['an unknown version', { version: 'unknown' }, ['refuse OLD_VERSION', 'refuse OLD_VERSION']],
    ['a replica', { role: 'slave' }, ['refuse REPLICA', 'refuse REPLICA']],
    ['no file at all', { appendOnly: false, snapshots: '' }, ['warn NO_PERSISTENCE', 'refuse NO_PERSISTENCE']],
    ['snapshots only', { appendOnly: false }, ['warn NO_APPEND_ONLY_FILE', 'refuse NO_APPEND_ONLY_FILE']],
    ['a file that fails', { appendFails: true }, ['warn APPEND_FAILS', 'refuse APPEND_FAILS']],
    ['a sync each second', { appendFsync: 'everysec' }, [null, 'refuse APPEND_FSYNC']],
    ['no sync', { appendFsync: 'no' }, ['warn APPEND_FSYNC', 'refuse APPEND_FSYNC']],
    ['replicas that may lag', { replicas: 2 }, ['warn ASYNC_REPLICATION', 'refuse ASYNC_REPLICATION']],
    ['replicas that may lag a little', { replicas: 2, guardsReplicas: true }, [null, 'refuse ASYNC_REPLICATION']],
    ['keys that were evicted', { evictedKeys: 1 }, ['warn KEYS_WERE_EVICTED', 'warn KEYS_WERE_EVICTED']],
    ['no room', { usedBytes: 90, limitBytes: 100 }, ['warn MEMORY_NEARLY_FULL', 'warn MEMORY_NEARLY_FULL']],
    ['a fast clock', { clock: { aheadMs: 1_012, uncertainMs: 10 } }, ['warn CLOCK_SKEW', 'warn CLOCK_SKEW']],
    ['a slow clock', { clock: { aheadMs: -1_012, uncertainMs: 10 } }, ['warn CLOCK_SKEW', 'warn CLOCK_SKEW']],
    ['a refused question', { unasked: ['TIME'] }, ['warn UNCHECKED', 'warn UNCHECKED']],
  ])('of %s thinks what its table says', (_what, over, [efficiency, correctness]) => {
    expect(verdict(over, EFFICIENCY)).toEqual(efficiency === null ? [] : [efficiency]);
    expect(verdict(over, CORRECTNESS)).toEqual([correctness]);
  });

  it.each<[string, Partial<ServerFacts>]>([
    ['6.2.0', { version: '6.2.0' }],
    ['10.0.0', { version: '10.0.0' }],
    ['a limit that is far away', { usedBytes: 89, limitBytes: 100 }],
    ['a skew that the round trip explains', { clock: { aheadMs: 1_500, uncertainMs: 600 } }],
  ])('accepts %s', (_what, over) => {
    expect(verdict(over, CORRECTNESS)).toEqual([]);
  });

  it('is content with replicas that each acquire waits for', () => {
    expect(verdict({ replicas: 2 }, { ...CORRECTNESS, awaitedReplicas: 1 })).toEqual([]);
  });

  it('does not hold against a server what it could not ask', () => {
    const { appendFsync: _fsync, snapshots: _snapshots, clock: _clock, ...rest } = FLAWLESS;
    expect(judgeServer(rest, CORRECTNESS)).toEqual([]);
  });

  it('says what was expected, what was found, and what to do', () => {
    const [finding] = judgeServer({ ...FLAWLESS, evictionPolicy: 'allkeys-lru' }, EFFICIENCY);
    expect(finding?.message).toMatch(
      /^Expected maxmemory-policy noeviction on the Redis at cache:6379, found allkeys-lru.*CONFIG SET maxmemory-policy/,
    );
  });
});

describe('judgeHistory', () => {
  it('is silent about the same process with the same history', () => {
    expect(judgeHistory(FLAWLESS, FLAWLESS)).toBeNull();
  });

  it('is silent about a primary that calls its history anew for its first replica', () => {
    expect(judgeHistory(FLAWLESS, { ...FLAWLESS, replicationId: 'history-2' })).toBeNull();
  });

  it.each<[string, string, Partial<ServerFacts>]>([
    ['a restart with an append-only file', 'RESTARTED', { runId: 'run-2' }],
    ['a restart without one', 'HISTORY_LOST', { runId: 'run-2', appendOnly: false }],
    ['a replica in the place of its primary', 'HISTORY_LOST', { runId: 'run-2', formerReplicationId: 'history-1' }],
    ['a process that was a replica for a while', 'HISTORY_LOST', { formerReplicationId: 'history-7' }],
    ['a process that has become a replica', 'HISTORY_LOST', { role: 'slave' }],
  ])('calls %s %s', (_what, code, over) => {
    const now = { ...FLAWLESS, replicationId: 'history-2', ...over };
    expect(judgeHistory(FLAWLESS, now)).toMatchObject({ code, danger: 'warn' });
  });
});

describe('factsOfInfo', () => {
  it('reads what INFO tells', () => {
    const info = [
      '# Server\r\nredis_version:7.0.15\r\nrun_id:abc\r\n# Memory\r\nused_memory:10\r\nmaxmemory:20',
      'maxmemory_policy:noeviction\r\n# Persistence\r\naof_enabled:1\r\naof_last_write_status:err',
      '# Replication\r\nrole:slave\r\nconnected_slaves:2\r\nmin_slaves_good_slaves:0\r\nmaster_replid:r1',
      'master_replid2:r0\r\n# Stats\r\nevicted_keys:7\r\n# Cluster\r\ncluster_enabled:1\r\n',
    ].join('\r\n');
    expect(factsOfInfo(info)).toEqual({
      version: '7.0.15',
      role: 'slave',
      clustered: true,
      runId: 'abc',
      replicationId: 'r1',
      formerReplicationId: 'r0',
      evictionPolicy: 'noeviction',
      evictedKeys: 7,
      usedBytes: 10,
      limitBytes: 20,
      appendOnly: true,
      appendFails: true,
      replicas: 2,
      guardsReplicas: true,
    });
  });
});

describe('measureClock', () => {
  it('takes the middle of the round trip as the moment of the reply', async () => {
    const clock = new ManualClock();
    const before = clock.now();
    const offset = await measureClock(clock, async () => {
      await clock.advance(40);
      return [`${Math.floor(before / 1_000) + 5}`, `${(before % 1_000) * 1_000}`];
    });
    expect(offset).toEqual({ aheadMs: 5_000 - 20, uncertainMs: 20 });
  });
});
