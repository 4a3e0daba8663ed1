import type { Criticality, Finding, ProbeOptions } from '@fencepost/lease/internal/redis-checks';
import type { Declaration } from '@fencepost/ledger/catalog';
import { isManual } from '@fencepost/schedule';
import { judgePostgres, judgeRedis, type DurabilityFinding, type PostgresSettings } from '@fencepost/ledger/durability';
import type { Telemetry } from '../telemetry/telemetry.js';
import { ClassificationError } from './cron-declaration.js';
import type { JobsSettings } from './options.js';

/** What was found at a method. */
export interface ClassifiedHandler {
  /** Class and method. */
  readonly where: string;
  readonly declaration: Declaration;
  readonly criticality?: Criticality;
}

/** Asks the store of the ledger what it can promise. */
export interface LedgerProbes {
  readonly redis: (demands: ProbeOptions) => Promise<readonly Finding[]>;
  readonly postgres: () => Promise<PostgresSettings>;
}

export interface Classification {
  readonly handlers: Iterable<ClassifiedHandler>;
  readonly settings: Pick<JobsSettings, 'ledger' | 'waitReplicas'>;
  readonly probes: LedgerProbes;
  readonly telemetry: Telemetry;
}

const MAX_NAMED = 5;

/**
 * Holds what the handlers of this process say of themselves against what the ledger's store can promise. Where no handler
 * says that a duplicate is damage, nobody is asked.
 * @throws {ClassificationError} naming the handlers, what was found, and which line to change
 * @throws when the store could not be asked
 */
export async function checkClassification({ handlers, settings, probes, telemetry }: Classification): Promise<void> {
  const critical = [...handlers].filter(({ criticality }) => criticality === 'correctness');
  if (critical.length === 0) return;
  const crons = critical.map(({ declaration }) => declaration.definition.name);
  const findings = [...(await probed(settings, probes)), ...critical.flatMap(overlapping)];
  for (const { danger, message } of findings) {
    if (danger === 'warn') telemetry.emit('classification.doubtful', { crons, found: message });
  }
  const refused = findings.filter(({ danger }) => danger === 'refuse');
  if (refused.length === 0) return;
  const found = refused.map(({ message }) => message);
  throw new ClassificationError(named(critical), found, linesFor(refused, settings));
}

async function probed(
  { ledger, waitReplicas }: Classification['settings'],
  probes: LedgerProbes,
): Promise<DurabilityFinding[]> {
  if (ledger === 'postgres') return judgePostgres(await probes.postgres());
  return judgeRedis(await probes.redis({ criticality: 'correctness', awaitedReplicas: waitReplicas }));
}

/** Runs of a job are asked for one by one, and each is its own; instants of a schedule come by themselves. */
function overlapping({ where, declaration: { definition } }: ClassifiedHandler): DurabilityFinding[] {
  if (definition.overlap !== 'allow' || isManual(definition.expression)) return [];
  const message =
    `Expected ${where} not to have overlap "allow" with criticality "correctness": two runs may work on ` +
    `the same data at once. Use overlap "skip" or "queue-all", or make sure the systems they change compare fences.`;
  return [{ danger: 'warn', message, line: null }];
}

function named(critical: readonly ClassifiedHandler[]): string[] {
  const some = critical
    .slice(0, MAX_NAMED)
    .map(({ where, declaration }) => `${where} ("${declaration.definition.name}")`);
  const more = critical.length - some.length;
  return more > 0 ? [...some, `and ${more} more`] : some;
}

/** Each of them would do: the first keeps Redis and mends it, the others go round it. */
function linesFor(refused: readonly DurabilityFinding[], { ledger }: Classification['settings']): string[] {
  const mend = [...new Set(refused.map(({ line }) => line))].filter((line) => line !== null).join(' and ');
  const elsewhere = ledger === 'redis' ? [`"ledger: 'postgres'" in the options of JobsModule`] : [];
  return [...(mend === '' ? [] : [mend]), ...elsewhere, `"criticality: 'efficiency'" at the method`];
}
