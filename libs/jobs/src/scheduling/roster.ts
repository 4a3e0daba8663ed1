import type { Lease } from '@fencepost/lease';
import type { CatalogEntry } from '../catalog/definition.js';
import type { Catalog } from '../catalog/catalog.js';
import { parseSchedule } from '../schedule/schedule.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { Campaign, type CampaignDeps } from './campaign.js';
import type { Engine, ScheduledCron } from './engine.js';

export interface RosterDeps extends CampaignDeps {
  readonly catalog: Catalog;
  readonly engine: Engine;
  readonly telemetry: Telemetry;
}

interface Entered {
  readonly generation: number;
  /** `null` for a cron whose schedule this pod can't read. */
  readonly campaign: Campaign | null;
}

/** The crons this pod campaigns for: those of the catalog, one campaign each. */
export class Roster {
  readonly #entered = new Map<string, Entered>();
  #reading: Promise<void> = Promise.resolve();
  #halted = false;

  constructor(private readonly deps: RosterDeps) {}

  /** Brings the campaigns in line with the catalog. Calls queue up, so that two readings never mix. */
  refresh(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#refresh());
    return this.#reading;
  }

  /** Somebody announced that the lease of this cron is free. */
  wake(cron: string): void {
    this.#entered.get(cron)?.campaign?.wake();
  }

  /** Ends every campaign at once; the terms are the caller's to release. */
  halt(): void {
    this.#halted = true;
    for (const { campaign } of this.#entered.values()) campaign?.halt();
  }

  /** Ends every campaign, and the terms of those that were not halted before. */
  async stop(): Promise<void> {
    this.#halted = true;
    await stopAll(this.#entered.values());
    // It enters nothing any more, but what it found outdated may still be giving its term up.
    await this.#reading;
  }

  async #refresh(): Promise<void> {
    if (this.#halted) return;
    try {
      const entries = await this.deps.catalog.read();
      await this.#apply(entries);
    } catch (error) {
      this.deps.telemetry.emit('store.trouble', { doing: 'reading the catalog', error: String(error) });
    }
  }

  async #apply(entries: readonly CatalogEntry[]): Promise<void> {
    const wanted = new Map(entries.map((entry) => [entry.definition.name, entry]));
    const outdated = [...this.#entered].filter(([name, { generation }]) => wanted.get(name)?.generation !== generation);
    for (const [name] of outdated) this.#entered.delete(name);
    await stopAll(outdated.map(([, entered]) => entered));
    const added = entries.filter(({ definition }) => !this.#entered.has(definition.name));
    if (outdated.length + added.length === 0) return;
    for (const entry of added) this.#enter(entry);
    this.deps.telemetry.emit('catalog.read', { crons: entries.length });
  }

  #enter(entry: CatalogEntry): void {
    const { name } = entry.definition;
    if (this.#halted) return;
    const cron = this.#schedule(entry);
    const campaign = cron && new Campaign(name, this.deps, (lease) => this.#hold(cron, lease));
    this.#entered.set(name, { generation: entry.generation, campaign });
    campaign?.start();
  }

  async #hold(cron: ScheduledCron, lease: Lease): Promise<void> {
    await this.deps.engine.hold(cron, lease);
    // Ended from inside: a claim was refused, and not necessarily because of the lease.
    if (!lease.signal.aborted && !this.#halted) await this.#catchUp(cron.entry);
  }

  /** Sees to it that a pod whose definition the ledger calls outdated gets a newer one. */
  async #catchUp({ definition: { name }, generation }: CatalogEntry): Promise<void> {
    const { ledger, catalog, telemetry } = this.deps;
    try {
      const { generation: accepted } = await ledger.readCron(name);
      if (accepted <= generation) return;
      await catalog.outgrow(name, accepted);
      // Not awaited: it ends this very campaign, which waits for us.
      void this.refresh();
    } catch (error) {
      telemetry.emit('store.trouble', { doing: `catching up with ${name}`, error: String(error) });
    }
  }

  /** A worker has checked the expression already; this pod's parser or zone database may still be another one. */
  #schedule(entry: CatalogEntry): ScheduledCron | null {
    const { definition } = entry;
    try {
      return { entry, schedule: parseSchedule({ ...definition, seed: definition.name }, this.deps.clock.now()) };
    } catch (error) {
      this.deps.telemetry.emit('catalog.unreadable', { cron: definition.name, error: String(error) });
      return null;
    }
  }
}

async function stopAll(entered: Iterable<Entered>): Promise<void> {
  const campaigns = [...entered].flatMap(({ campaign }) => campaign ?? []);
  await Promise.all(campaigns.map((campaign) => campaign.stop()));
}
