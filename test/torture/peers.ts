import { readFileSync } from 'node:fs';
import type { Member } from './crew.js';
import { fencedSink, plainSink, type Sink, type SinkAddress } from './sink.js';
import { postgresStore, redisStore, type Store } from './store.js';

/** Somebody who says that a cron runs once, and what is needed to see whether it does. */
export interface Peer {
  readonly name: string;
  readonly version: string;
  /** Why it can't run here, in a few words; absent when it can. */
  readonly hindrance?: string;
  readonly members: readonly Omit<Member, 'env'>[];
  readonly store: () => Promise<Store>;
  readonly sink: (address: SinkAddress) => Sink;
}

/** The same for everybody, so that all have to bear the same within seconds. */
export const CADENCE_MS = 1_000;
export const EXPRESSION = '* * * * * *';
/** Lock, run lease and what else says that somebody is still at it. */
export const LOCK_MS = 2_000;
export const WORK_MS = 300;
const REPLICAS = 3;

export const FENCEPOST: Peer = {
  name: 'Fencepost',
  version: versionAt('libs/jobs'),
  members: [...crewOf('scheduler', 'apps/scheduler/bundle/main.js'), ...crewOf('worker', pod('fencepost'))],
  store: redisStore,
  sink: fencedSink,
};

export const PLAIN_BULLMQ: Peer = {
  name: 'BullMQ Job Schedulers',
  version: versionOf('bullmq'),
  ...onRedis('plain-bullmq'),
};

const SET_NX: Peer = {
  name: '@nestjs/schedule + SET NX',
  version: versionOf('@nestjs/schedule'),
  ...onRedis('set-nx'),
};

const REDLOCK: Peer = {
  name: '@nestjs/schedule + redlock',
  version: `${versionOf('@nestjs/schedule')} + ${versionOf('redlock5')}`,
  ...onRedis('redlock'),
};

const PG_BOSS: Peer = {
  name: 'pg-boss',
  version: versionOf('pg-boss'),
  ...hindranceOfPgBoss(process.versions.node),
  members: crewOf('replica', pod('pg-boss')),
  store: postgresStore,
  sink: plainSink,
};

export const PEERS: readonly Peer[] = [FENCEPOST, PLAIN_BULLMQ, SET_NX, REDLOCK, PG_BOSS];

/** @param node its version, such as `20.19.0` */
export function hindranceOfPgBoss(node: string, version = versionOf('pg-boss')): { readonly hindrance?: string } {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major < 22 || (major === 22 && minor < 12)) return { hindrance: 'needs node ≥ 22.12' };
  return version === '' ? { hindrance: 'is not installed' } : {};
}

function onRedis(program: string): Pick<Peer, 'members' | 'store' | 'sink'> {
  return { members: crewOf('replica', pod(program)), store: redisStore, sink: plainSink };
}

function crewOf(role: string, program: string): Omit<Member, 'env'>[] {
  return Array.from({ length: REPLICAS }, (_, n) => ({ name: `${role}-${n + 1}`, role, program }));
}

function pod(name: string): string {
  return `test/dist/pods/peers/${name}.js`;
}

/** @returns an empty text for a package that isn't there */
function versionOf(name: string): string {
  return versionAt(`node_modules/${name}`);
}

function versionAt(folder: string): string {
  try {
    const file = new URL(`../../${folder}/package.json`, import.meta.url);
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
    return version.replace(/^v/, '');
  } catch {
    return '';
  }
}
