import { hostname } from 'node:os';
import { withAudit, type AuditedOrder, type CatalogEntry, type Run, CatalogMovedError } from '../jobs.js';
import type { Store } from '../store/store.js';
import type { World } from '../world.js';
import { EXIT } from '../exit.js';
import type { Report } from '../report.js';
import { hanging } from '../table.js';

type Order<Result> = Omit<AuditedOrder<Result>, 'role' | 'from' | 'cron' | 'runId' | 'reason'> &
  Partial<Pick<AuditedOrder<Result>, 'cron' | 'runId' | 'reason'>>;

/** Whoever types a command has reached the store itself: no token was asked for. */
export const ROLE = 'shell';

/** From where an order comes, as its record has it. */
export function placeOf({ host = hostname() }: World): string {
  return `cli ${host}`;
}

/** Does what was ordered, and leaves a record of it in the audit trail. */
export function audited<Result>(
  { store: { audit }, world }: { readonly store: Store; readonly world: World },
  order: Order<Result>,
  work: () => Promise<Result>,
): Promise<Result> {
  return withAudit(audit, { cron: null, runId: null, reason: null, role: ROLE, from: placeOf(world), ...order }, work);
}

/** How a cron is defined now, as a record has it; `null` where there is none of the name. */
export async function definedAs({ catalog }: Store, cron: string): Promise<object | null> {
  const { entries } = await catalog.read();
  const entry = entries.find(({ definition }) => definition.name === cron);
  return entry ? definitionOf(entry) : null;
}

export function definitionOf({ generation, state, definition }: CatalogEntry): object {
  return { generation, state, definition };
}

/** The run, where there is one; an id that can't be one has none. */
export async function runIn({ ledger }: Store, runId: string): Promise<Run | null> {
  return cronIn(runId) === null ? null : ledger.readRun(runId);
}

export function cronIn(runId: string): string | null {
  const at = runId.lastIndexOf('@');
  return at < 1 ? null : runId.slice(0, at);
}

/** Somebody was faster. An answer and no bad usage: what was asked for was right when it was typed. */
export function movedReport(cron: string, error: unknown): Report {
  if (!(error instanceof CatalogMovedError)) throw error;
  const { expected, found, message } = error;
  return {
    code: EXIT.finding,
    json: { cron, verdict: 'moved', expected, found },
    text: (width) => hanging(message, width),
  };
}
