import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectRedis, closeRedis, type RedisClient } from '@fencepost/lease';
import { RedisCatalog } from '../../libs/jobs/src/catalog/redis-catalog.js';
import { PostgresLedger } from '../../libs/jobs/src/ledger/postgres/postgres-ledger.js';
import { RedisLedger } from '../../libs/jobs/src/ledger/redis-ledger.js';
import { BullmqRunQueue } from '../../libs/jobs/src/scheduling/bullmq-run-queue.js';
import { RedisPresence } from '../../libs/jobs/src/scheduling/redis-presence.js';
import { freshPrefix } from '../support/redis.js';
import { openDatabase, type Database, type DatabaseServer } from './database.js';
import type { Fault } from './fault.js';
import { deployFaults } from './faults/deploy-faults.js';
import { pointFaults } from './faults/point-faults.js';
import { hookedFaults, processFaults } from './faults/process-faults.js';
import { Fleet } from './fleet.js';
import { SCHEDULER_STALLS, WORKER_STALLS } from './sightings.js';
import type { Stretch } from './stretch.js';
import { openTopology } from './topologies/open-topology.js';
import type { TopologyName } from './topology.js';

export interface StageOptions {
  readonly topology: TopologyName;
  /** Where the ledger is, when it isn't in Redis. */
  readonly database?: DatabaseServer;
  /** Of a Redis that is never touched. */
  readonly sinkUrl: string;
  /** A folder in which the recording and what pods said are left, for whoever has to find out. */
  readonly keepIn?: string;
}

/** Everything a stretch needs, started and connected, but for its pods. */
export interface Stage {
  readonly stretch: Stretch;
  readonly fleet: Fleet;
  readonly processFaults: readonly Fault[];
  readonly redisFaults: readonly Fault[];
  readonly databaseFaults: readonly Fault[];
  close(): Promise<void>;
}

/** Shorter than any deployment would have them: each fault has to be lived through many times. */
const HURRIED = {
  FENCEPOST_LEASE_TTL: '1s',
  FENCEPOST_RUN_LEASE: '1500ms',
  FENCEPOST_SWEEP_EVERY: '200ms',
  FENCEPOST_DRAIN_DEADLINE: '2s',
  FENCEPOST_KEEP_RUNS: '1000000',
  FENCEPOST_APP: 'chaos',
};

const LEASE_MS = 1_500;
/** Generous: an oracle that gives up says nothing. */
const ORACLE_TIMEOUT_MS = 20_000;
const PODS = ['s1', 's2', 's3', 'w1', 'w2', 'w3'];
const TENANT = 'default';

/** @throws when a server can't be started; nothing is left running then */
export async function openStage({ topology: name, database: server, sinkUrl, keepIn }: StageOptions): Promise<Stage> {
  const undo: (() => unknown)[] = [];
  const close = async () => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    const folder = mkdtempSync(join(keepIn ?? tmpdir(), 'chaos-'));
    if (keepIn === undefined) undo.push(() => rmSync(folder, { recursive: true, force: true }));
    const topology = await openTopology(name, { pods: PODS, mayLose: server !== undefined });
    undo.push(() => topology.close());
    const database = server && (await openDatabase(server, PODS));
    if (database) undo.push(() => database.close());
    const redis = await connectRedis({ ...topology.target, commandTimeoutMs: ORACLE_TIMEOUT_MS, name: 'oracle' });
    undo.push(() => closeRedis(redis));
    const prefix = freshPrefix();
    const { stores, closeStores } = storesOn(redis, prefix, database);
    undo.push(closeStores);
    const recording = join(folder, 'recording.jsonl');
    const fleet = new Fleet({
      folder,
      env: ({ name: pod, role, build }) => ({
        ...{ ...HURRIED, ...topology.env(pod), ...database?.env(pod) },
        ...{ FENCEPOST_PREFIX: prefix, FENCEPOST_BUILD_SEQ: `${build}`, RECORD_TO: recording, SINK_REDIS_URL: sinkUrl },
        ...(role === 'worker' ? { CRONS: database ? 'chaos,chaos-booked' : 'chaos' } : {}),
        STALLS: JSON.stringify(role === 'worker' ? WORKER_STALLS : SCHEDULER_STALLS),
      }),
    });
    const hurt = { herd: fleet, leaseMs: LEASE_MS };
    return {
      stretch: {
        ...{ topology: name, ledgerKind: database ? 'postgres' : 'redis', prefix, recording, sinkUrl, stores },
        clockErrorMs: topology.clockErrorMs ?? 0,
        ...(database ? { database } : {}),
      },
      fleet,
      processFaults: [...processFaults(hurt), ...hookedFaults(hurt), ...pointFaults(hurt), ...deployFaults(fleet)],
      redisFaults: topology.faults,
      databaseFaults: database?.faults ?? [],
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** As a person's tools see them, and not through what is broken between a pod and its server. */
function storesOn(redis: RedisClient, prefix: string, database: Database | undefined) {
  const space = { redis, prefix, tenant: TENANT };
  const queue = new BullmqRunQueue({ ...space, onTrouble: () => {} });
  const stores = {
    ledger: database ? new PostgresLedger({ ...database, prefix, tenant: TENANT }) : new RedisLedger(space),
    catalog: new RedisCatalog(space),
    presence: new RedisPresence(space),
    queue,
  };
  return { stores, closeStores: () => queue.close() };
}
