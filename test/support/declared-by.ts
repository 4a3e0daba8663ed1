import { CATALOG, POD_REGISTRY, type PodRegistry } from '@fencepost/jobs/internal';
import type { Catalog } from '@fencepost/ledger/catalog';
import { podCard } from '../contracts/pod-registry.contract.js';
import { declared } from './fencepost.js';
import type { RunningApp } from './scheduler-app.js';

/** The crons of an app, each with an instant a year, as one of its pods declares them. */
export async function declaredBy(app: string, crons: readonly string[], { app: nest }: RunningApp): Promise<void> {
  const declarations = crons.map((name) => declared(name, '0 3 1 1 *'));
  await nest.get<Catalog>(CATALOG, { strict: false }).declare(declarations, { revision: 1, app });
}

/** A live pod of the app that has a method for each of the crons; it is heard once, and so for 15 s. */
export async function podOf(app: string, crons: readonly string[], { app: nest }: RunningApp): Promise<void> {
  const card = podCard({ pod: `${app}/0123456789abcdef`, app, roles: ['worker'], handlers: crons });
  await nest.get<PodRegistry>(POD_REGISTRY, { strict: false }).report(card);
}
