import { hostname } from 'node:os';
import {
  isStoreError,
  withAudit,
  type AuditedOrder,
  type AuditTrail,
  type Catalog,
  type CatalogEntry,
  type Ledger,
  type Run,
} from '../jobs.js';
import { OrderCutError } from '../exit.js';
import type { World } from '../world.js';

type Order<Result> = Omit<AuditedOrder<Result>, 'by' | 'role' | 'from' | 'runId'> &
  Partial<Pick<AuditedOrder<Result>, 'runId'>>;

/** Whoever types a command has reached the store itself: no token was asked for. */
const ROLE = 'shell';

/** Does what is ordered at the stores, and leaves a record of it in the audit trail. */
export class Audited {
  constructor(
    private readonly trail: AuditTrail,
    private readonly world: World,
    private readonly said: string | undefined,
  ) {}

  get by(): string {
    return this.said ?? this.world.user();
  }

  /** Who gives an order and from where, as its record has it. */
  get who() {
    return { by: this.by, role: ROLE, from: `cli ${this.world.host ?? hostname()}` };
  }

  /** @throws {OrderCutError} where a store stopped answering meanwhile */
  order<Result>(order: Order<Result>, work: (by: string) => Promise<Result>): Promise<Result> {
    return cuttable(withAudit(this.trail, { runId: null, ...this.who, ...order }, () => work(this.by)));
  }
}

/** @throws {OrderCutError} */
export function cuttable<Result>(order: Promise<Result>): Promise<Result> {
  return order.catch((error: unknown) => {
    throw isStoreError(error) ? new OrderCutError(error) : error;
  });
}

/** How a cron is defined now, as a record has it; `null` where there is none of the name. */
export async function definedAs({ catalog }: { readonly catalog: Catalog }, cron: string): Promise<object | null> {
  const { entries } = await catalog.read([cron]);
  const entry = entries.find(({ definition }) => definition.name === cron);
  return entry ? definitionOf(entry) : null;
}

export function definitionOf({ generation, state, definition }: CatalogEntry): object {
  return { generation, state, definition };
}

/** The run, where there is one; an id that can't be one has none. */
export async function runIn({ ledger }: { readonly ledger: Ledger }, runId: string): Promise<Run | null> {
  return cronIn(runId) === null ? null : ledger.readRun(runId);
}

export function cronIn(runId: string): string | null {
  const at = runId.lastIndexOf('@');
  return at < 1 ? null : runId.slice(0, at);
}
