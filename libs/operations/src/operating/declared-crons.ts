import { FencepostError } from '@fencepost/lease';
import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { POD_GONE_MS, type PodRegistry, type RegistryReading } from '@fencepost/jobs/internal';

/** Live pods declare the cron, or nothing proves that they don't: it can be paused, not removed. Nothing was changed. */
export class DeclaredCronError extends FencepostError {
  readonly code = 'DECLARED_CRON';

  constructor(
    readonly cron: string,
    /** The apps that declare it: those of live pods, or the one on record where the pods are unknown. */
    readonly apps: readonly string[],
    { areKnown = true }: { readonly areKnown?: boolean } = {},
  ) {
    const owners = ofApps(apps);
    const why = areKnown
      ? `while live pods of ${owners} declare it`
      : `because ${owners} declared it and no pod registry tells yet whether it still does`;
    super(
      `The cron "${cron}" can't be removed ${why}: run "fencepost pause ${cron} --reason <words>", or remove it from ` +
        `the code of ${owners}.`,
    );
  }
}

function ofApps(apps: readonly string[]): string {
  return `the ${apps.length === 1 ? 'app' : 'apps'} ${apps.map((app) => `"${app}"`).join(' and ')}`;
}

/** What becomes of a removed cron that code has declared: apps by cron. */
export interface Removability {
  /** Crons that live pods declare: they stay. */
  readonly refusals: ReadonlyMap<string, DeclaredCronError>;
  /** The app on record of each cron that no live pod declares any more: a pod that declares it again brings it back. */
  readonly declaredBy: ReadonlyMap<string, string>;
}

/**
 * Tells which of these crons may be removed. Those that were made at run time always may.
 * @param pods without a registry it is unknown whether a live pod declares a cron, and then it must not be removed
 */
export async function removabilityOf(
  entries: readonly CatalogEntry[],
  pods: Pick<PodRegistry, 'look'> | undefined,
): Promise<Removability> {
  const refusals = new Map<string, DeclaredCronError>();
  const declaredBy = new Map<string, string>();
  const declared = entries.filter(({ app, state }) => app !== null && state !== 'removed');
  const reading = declared.length === 0 || !pods ? null : await pods.look();
  const live = reading && declarersOf(reading);
  const isProof = reading !== null && isComplete(reading);
  for (const { definition, app: onRecord } of declared) {
    const { name } = definition;
    const app = onRecord ?? '';
    const apps = live?.get(name);
    if (apps) refusals.set(name, new DeclaredCronError(name, [...apps].toSorted()));
    else if (isProof) declaredBy.set(name, app);
    else refusals.set(name, new DeclaredCronError(name, [app], { areKnown: false }));
  }
  return { refusals, declaredBy };
}

/** A registry that began less than this ago may lack live pods; one that nobody has reported to has none. */
function isComplete({ now, bornAt, pods }: RegistryReading): boolean {
  return pods.length === 0 || now - bornAt >= POD_GONE_MS;
}

/** The apps of live workers, by the crons that they have a method for. */
function declarersOf({ pods }: Pick<RegistryReading, 'pods'>): Map<string, Set<string>> {
  const declarers = new Map<string, Set<string>>();
  for (const { app, handlers } of pods) {
    for (const cron of handlers) declarers.set(cron, (declarers.get(cron) ?? new Set()).add(app));
  }
  return declarers;
}
