import { CATALOG, JOBS_SETTINGS, POD_REGISTRY, type JobsSettings, type PodRegistry } from '@fencepost/jobs/internal';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { LEASE_REDIS } from '@fencepost/lease/nest';
import type { RedisClient } from '@fencepost/lease/redis';
import type { INestApplicationContext } from '@nestjs/common';
import type { Catalog } from '@fencepost/ledger/catalog';
import { podCard } from '../contracts/pod-registry.contract.js';
import { declared } from './fencepost.js';
import type { RunningApp } from './scheduler-app.js';

/** The crons of an app, each with an instant a year, as one of its pods declares them. */
export async function declaredBy(app: string, crons: readonly string[], { app: nest }: RunningApp): Promise<void> {
  const declarations = crons.map((name) => declared(name, '0 3 1 1 *'));
  await nest.get<Catalog>(CATALOG, { strict: false }).declare(declarations, { revision: 1, app });
}

/** A live pod of the app that has a method for each of the crons; it is heard once, and so for 15 s. The registry is old. */
export async function podOf(app: string, crons: readonly string[], { app: nest }: RunningApp): Promise<void> {
  const card = podCard({ pod: `${app}/0123456789abcdef`, app, roles: ['worker'], handlers: crons });
  await nest.get<PodRegistry>(POD_REGISTRY, { strict: false }).report(card);
  await age(nest);
}

/** As if the pod registry had begun long ago: one that has just begun may lack live pods. */
export async function age(nest: INestApplicationContext): Promise<void> {
  const redis = nest.get<RedisClient>(LEASE_REDIS, { strict: false });
  const { prefix, tenant } = nest.get<JobsSettings>(JOBS_SETTINGS, { strict: false });
  await redis.call('HSET', redisKeys({ prefix, tenant })('catalog', 'pod-registry'), 'born', '1');
}
