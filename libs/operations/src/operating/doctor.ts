import type { Catalog, CatalogReading } from '@fencepost/ledger/catalog';
import type { PostgresFacts } from '@fencepost/ledger/postgres';
import type { Membership } from '@fencepost/jobs/internal';
import type { Journal } from '../journal/journal.js';
import { mapInSlices } from './slices.js';
import { MAX_MARKS } from './cron-history.js';
import type { CronOverview } from './cron-overview.js';
import type { CronOperator } from './cron-operator.js';
import { CRON_RULES } from './doctor-crons.js';
import type {
  CronOutcomes,
  DoctorFacts,
  DoctorFinding,
  DoctorFindingLevel,
  LateCron,
  RedisFacts,
} from './doctor-facts.js';
import { OUTCOME_RULES, unsound } from './doctor-outcomes.js';
import { POD_RULES } from './doctor-pods.js';
import { STANDSTILL_RULES } from './doctor-standstills.js';
import { STORE_RULES } from './doctor-stores.js';
import { counted, found } from './doctor-words.js';
import { REVISION_RULES } from './doctor-revisions.js';
import type { LiveRevisions } from './live-revisions.js';
import { unreportedOf } from './live-pods.js';
import type { LostDefinitions } from './lost-definitions.js';
import type { RunOperator } from './run-operator.js';

export interface DoctorPorts {
  readonly catalog: Pick<Catalog, 'read'>;
  readonly operator: Pick<CronOperator, 'list' | 'notable' | 'newestRuns'>;
  readonly runs: Pick<RunOperator, 'uncertain'>;
  readonly membership: Pick<Membership, 'lastHeard' | 'processes'>;
  readonly revisions: Pick<LiveRevisions, 'read'>;
  readonly journal: Pick<Journal, 'latest'>;
  /** Where runs are looked for. */
  readonly ledger: 'redis' | 'postgres';
  readonly redis: () => Promise<RedisFacts>;
  /** Which definitions the catalog has lost. */
  readonly lost: (reading: CatalogReading) => Promise<LostDefinitions>;
  /** `null`: the ledger is not there. */
  readonly postgres: (() => Promise<PostgresFacts>) | null;
}

const MAX_READ = 1_000;
/** Crons whose state is looked at, the first by name: an examination must end. It says how many they are. */
const MAX_EXAMINED = 20_000;
/** Crons whose newest runs are read: the examination of 100,000 crons must end. */
const MAX_UNSOUND = 200;

/** Looks at everything a deployment says of itself, and tells what is wrong with it and what to do. */
export class Doctor {
  constructor(private readonly ports: DoctorPorts) {}

  /**
   * What was found, the worst first; with one finding `ok` at the end that says what was looked at. What can't be asked is a
   * finding too (`UNREAD`), but for the catalog: without it nothing is known, unless its tables are missing.
   * @throws what the store throws when the catalog could not be read
   */
  async examine(): Promise<DoctorFinding[]> {
    const asked = new Asked();
    const facts = await this.#facts(await this.#read(asked), asked);
    return judgeDeployment(facts, (await mapInSlices(RULES, (rule) => rule(facts))).flat());
  }

  async #read(asked: Asked): Promise<CatalogReading> {
    const nothing: CatalogReading = { version: 0, readAt: Date.now(), entries: [] };
    const read = () => this.ports.catalog.read();
    if (this.ports.postgres === null) return read();
    return asked.about('catalog', nothing, read);
  }

  /** Most crons are well, and of those nothing is read: ten thousand of them would keep the store busy for long. */
  async #crons(reading: CatalogReading, late: readonly LateCron[]): Promise<CronOverview[]> {
    const { operator } = this.ports;
    const examined = reading.entries.slice(0, MAX_EXAMINED);
    const notable = await operator.notable(examined.map(({ definition }) => definition.name));
    const names = new Set([...notable, ...late.map(({ cron }) => cron)]);
    return operator.list({ ...reading, entries: examined.filter(({ definition }) => names.has(definition.name)) });
  }

  async #outcomes(crons: readonly CronOverview[]): Promise<CronOutcomes> {
    const names = unsound(crons).map(({ name }) => name);
    const asked = names.slice(0, MAX_UNSOUND);
    const runs = await this.ports.operator.newestRuns(asked, MAX_MARKS);
    const looked = asked.map((cron, index) => ({ cron, runs: runs[index] ?? [] }));
    return { looked, left: names.length - asked.length };
  }

  async #facts(reading: CatalogReading, asked: Asked): Promise<DoctorFacts> {
    const { readAt: now, entries, unreadable = [], bornAt = null } = reading;
    const { runs, membership, revisions, journal, ledger, redis, postgres } = this.ports;
    const [uncertain, lastHeard, processes, live, happened, server, database, lost] = await Promise.all([
      asked.about('uncertain runs', [], () => runs.uncertain({ limit: MAX_READ })),
      asked.about('membership', null, () => membership.lastHeard()),
      asked.about('heartbeats', null, () => membership.processes()),
      asked.about('pods', null, () => revisions.read()),
      asked.about('journal', [], () => journal.latest({ limit: MAX_READ })),
      asked.about('redis', null, redis),
      asked.about('postgres', null, async () => (await postgres?.()) ?? null),
      asked.about('definitions', { count: 0, names: [] }, () => this.ports.lost(reading)),
    ]);
    const crons = await asked.about('crons', [], () => this.#crons(reading, server?.late ?? []));
    const outcomes = await asked.about('newest runs', NOTHING_LOOKED_AT, () => this.#outcomes(crons));
    return {
      outcomes,
      ...{ now, ledger, entries, unreadable, bornAt, crons, uncertain, lastHeard, live, happened },
      pods: live?.pods ?? [],
      unreported: live && processes && unreportedOf(processes, live.pods),
      ...{ redis: server, postgres: database, lost, unread: asked.unread },
    };
  }
}

const NOTHING_LOOKED_AT: CronOutcomes = { looked: [], left: 0 };

class Asked {
  readonly unread: { readonly what: string; readonly error: string }[] = [];

  async about<Answer>(what: string, otherwise: Answer, ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      this.unread.push({ what, error: error instanceof Error ? error.message : String(error) });
      return otherwise;
    }
  }
}

const RULES = [...STORE_RULES, ...STANDSTILL_RULES, ...POD_RULES, ...REVISION_RULES, ...CRON_RULES, ...OUTCOME_RULES];
const ORDER: readonly DoctorFindingLevel[] = ['bad', 'warn', 'note', 'ok'];

/** Judges by facts alone; asks nobody. */
export function judgeDeployment(
  facts: DoctorFacts,
  findings: readonly DoctorFinding[] = RULES.flatMap((rule) => rule(facts)),
): DoctorFinding[] {
  return [...findings.toSorted((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level)), lookedAt(facts, findings)];
}

/** Whether a person has to do something. */
export function needsCare(findings: readonly DoctorFinding[]): boolean {
  return findings.some(({ level }) => level === 'bad' || level === 'warn');
}

function lookedAt(facts: DoctorFacts, findings: readonly DoctorFinding[]): DoctorFinding {
  const { pods, entries, redis, ledger, unread } = facts;
  const isRead = (what: string) => !unread.some((one) => one.what === what);
  const versions = [...new Set((redis?.servers ?? []).map(({ version }) => version))].join(', ');
  const some = entries.length > MAX_EXAMINED ? ` (the state of the first ${MAX_EXAMINED})` : '';
  const podCount = isRead('pods') ? counted(pods.length, 'pod') : 'unknown pods';
  const cronCount = isRead('catalog') ? `${counted(entries.length, 'cron')}${some}` : 'unknown crons';
  const looked = `${podCount}, ${cronCount}, Redis ${versions || 'unknown'}, the ledger in ${ledger}`;
  const rest = needsCare(findings) ? 'no further findings' : 'no findings';
  return found('ok', { code: 'LOOKED_AT', subject: 'deployment', text: `Checked ${looked}: ${rest}.`, todo: null });
}
