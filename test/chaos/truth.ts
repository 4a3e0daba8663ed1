import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '@fencepost/lease';
import { audit, type AuditReport } from '@fencepost/operations/audit';
import type { Ledger } from '@fencepost/ledger';
import type { Run } from '@fencepost/ledger/run';
import { Answerer } from './answerer.js';
import { toldChanges, type ToldChanges } from './changes.js';
import { checkConformance } from './conformance.js';
import { decisionsIn, type Decision } from './decisions.js';
import { definitionHistory, type DefinitionHistory } from './definitions.js';
import { historiesOf } from './history.js';
import { KeptDefinitions, knowledgeIn, type Knowledge } from './kept-definitions.js';
import { checkLinearity, type LinearityReport } from './linearity.js';
import { consult, type CronAccount, type OracleReport } from './oracle.js';
import { OwnCalls, OwnReadings } from './own-readings.js';
import { now, readRecording, type Recording } from './recording.js';
import { expressionsOf, type Program } from './programs.js';
import { observationsIn } from './observations.js';
import { Sinks, type SinkSnapshot } from './sinks.js';
import { longestStall } from './stall.js';
import type { Episode } from './episode.js';
import type { EpisodeVerdict } from './verdict.js';

const LOOK_EVERY_MS = 250;
/** Generous: only a run that is stuck waits for so long. */
const PATIENCE_MS = 90_000;
const ALL = 1_000_000;
/** What was due so shortly before the end is left to the next episode, which there is none. */
const LEFT_MS = 6_000;
/** How long crons are watched at least once all is healed: what stands still then shows within this. */
const HEALTHY_MS = 6_000;

/** Watches an episode from outside while it is hurt, and says in the end what became of everything. */
export class Truth {
  readonly #readings: OwnReadings;
  readonly #own = new OwnCalls();
  readonly #ledger: Ledger;
  readonly #sinks: Sinks;
  readonly #answerer: Answerer;
  readonly #kept: KeptDefinitions;
  readonly #over = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  /** Instants up to here are judged, epoch milliseconds of the store. */
  #end = 0;
  #wrong: readonly string[] = [];
  /** When all was healed, and until when the pods were watched: microseconds of the recording. */
  #healthy = { from: 0, until: 0 };

  private constructor(private readonly episode: Episode) {
    const { sinkUrl, prefix, database, stores } = episode;
    this.#sinks = new Sinks({ url: sinkUrl, prefix, ...(database ? { database } : {}) });
    this.#readings = new OwnReadings(stores.catalog);
    this.#ledger = this.#own.over(stores.ledger);
    this.#answerer = new Answerer(this.#ledger, this.#sinks, stores);
    this.#kept = new KeptDefinitions(stores);
  }

  /** Before the pods of the episode start: makes what their crons write into, and begins to watch and to answer. */
  static async watch(episode: Episode): Promise<Truth> {
    const truth = new Truth(episode);
    await truth.#sinks.prepare();
    truth.#watching = truth.#watch();
    return truth;
  }

  /** Once the pods are up: has crons changed, removed, made and paused, where nothing that is hurt may undo that. */
  async order(): Promise<void> {
    if (this.episode.database) await this.#kept.order();
  }

  /**
   * Once everything is healed and the pods are up: until what was due by now is over, or patience is at its end.
   * @param deployed what has to be in force by then, where that is known
   */
  async settle(deployed: Program | null = null): Promise<void> {
    const from = now();
    await Promise.all([this.#settled(), wait(HEALTHY_MS)]);
    this.#healthy = { from, until: now() };
    if (deployed) this.#wrong = await this.#wrongIn(deployed);
  }

  /** Definitions in force that the workers declare otherwise, a sentence each. */
  async #wrongIn(deployed: Program): Promise<string[]> {
    const expected = expressionsOf(deployed);
    const { entries } = await this.episode.stores.catalog.read([...expected.keys()]);
    const found = new Map(
      entries.map(({ definition, state }) => [definition.name, `${definition.expression} ${state}`]),
    );
    return [...expected].flatMap(([cron, expression]) => {
      const is = found.get(cron) ?? 'gone';
      return is === `${expression} active`
        ? []
        : [`${cron} is ${is} in the end, and all workers declare ${expression}`];
    });
  }

  async #settled(): Promise<void> {
    const healedAt = await this.#healedAt();
    this.#end = healedAt - LEFT_MS;
    let least = Infinity;
    // From the last step ahead on: what is slow is not stuck.
    for (let until = performance.now() + PATIENCE_MS; performance.now() < until; await wait(LOOK_EVERY_MS)) {
      const left = await this.#left(healedAt).catch(() => Infinity);
      if (left === 0) return;
      if (left < least) [least, until] = [left, performance.now() + PATIENCE_MS];
    }
  }

  /** Once the pods are gone. Closes what this has opened. */
  async verdict(): Promise<EpisodeVerdict> {
    this.#over.abort();
    await this.#watching;
    try {
      return await this.#judge();
    } finally {
      await this.#sinks.close();
    }
  }

  async #watch(): Promise<void> {
    while (!this.#over.signal.aborted) {
      // What is hurt does not always answer, and the next look does as well.
      await this.#look().catch(() => {});
      await wait(LOOK_EVERY_MS, undefined, { signal: this.#over.signal }).catch(() => {});
    }
  }

  async #look(): Promise<void> {
    await Promise.all([this.#readings.look(), this.#kept.look()]);
    await this.#answerer.look(this.#readings.crons);
  }

  async #healedAt(): Promise<number> {
    const { readAt } = await this.episode.stores.catalog.read();
    return readAt;
  }

  /** How much is neither over nor decided. */
  async #left(healedAt: number): Promise<number> {
    const { ledger } = this.episode.stores;
    const [records, runs] = await Promise.all([ledger.readCrons(this.#readings.crons), this.#runs()]);
    // What was made up for late was claimed later, and is judged all the same.
    const isJudged = ({ claimedAt, scheduledAt }: Run) => claimedAt <= healedAt || scheduledAt <= this.#end;
    const open = runs.filter((run) => run.finishedAt === null && isJudged(run));
    return open.length + records.filter(({ cursor }) => (cursor ?? 0) < this.#end).length;
  }

  async #runs(): Promise<Run[]> {
    const runs = await Promise.all(this.#readings.crons.map((cron) => this.episode.stores.ledger.runs(cron, ALL)));
    return runs.flat();
  }

  /** The ledger's own auditor, with the definitions by which it was decided. */
  #audit(histories: readonly DefinitionHistory[]): Promise<AuditReport> {
    const { catalog, membership, ledger } = this.episode.stores;
    const byCron = new Map(histories.map((history) => [history.entry.definition.name, history]));
    const numbered: Ledger['account'] = async (cron, from, through) => {
      const account = await ledger.account(cron, from, through);
      return { ...account, runs: account.runs.map((run) => byCron.get(cron)?.renumbered(run) ?? run) };
    };
    const entries = histories.map(({ entry }) => entry);
    const read = async () => ({ ...(await catalog.read()), entries });
    return audit(
      { catalog: { read }, ledger: { account: numbered }, membership, clock: systemClock },
      { to: this.#end },
    );
  }

  async #judge(): Promise<EpisodeVerdict> {
    await this.#kept.look();
    const snapshot = await this.#sinks.snapshot();
    const recording = readRecording(readFileSync(this.episode.recording, 'utf8'));
    const knowledge = [...knowledgeIn(recording.events), ...this.#readings.known].toSorted((a, b) => a.at - b.at);
    const decisions = decisionsIn(recording.calls);
    const known = await Promise.all(this.#readings.crons.map((cron) => this.#known(cron, { decisions, knowledge })));
    const accounts = known.map(({ account }) => account);
    const histories = known.map(({ history }) => history);
    const oracle = consult({ accounts, snapshot, end: this.#end });
    const report = await this.#audit(histories);
    const { clockErrorMs } = this.episode;
    const told = toldChanges({ knowledge, events: recording.events, epochMs: epochOf(), clockErrorMs });
    const evidence = { recording, oracle, report, accounts, histories, told };
    return {
      ...this.#told(evidence),
      longestStallMs: this.#stall(recording, accounts),
      seen: this.#seen(recording, snapshot, accounts),
    };
  }

  async #known(cron: string, { decisions, knowledge }: { decisions: Decision[]; knowledge: Knowledge[] }) {
    const { ledger } = this.episode.stores;
    const [runs, skips, record] = await Promise.all([
      ledger.runs(cron, ALL),
      ledger.skips(cron, ALL),
      ledger.readCron(cron),
    ]);
    const { cursor } = record;
    const epochMs = epochOf();
    const { clockErrorMs } = this.episode;
    const history = definitionHistory({ cron, decisions, knowledge, runs, cursor, epochMs, clockErrorMs });
    return { history, account: { entry: history.entry, runs, skips } };
  }

  #stall({ events }: Recording, accounts: readonly CronAccount[]): number {
    const allowing = accounts.filter(({ entry }) => entry.definition.overlap === 'allow');
    const superseded = accounts.flatMap(({ runs }) => runs.filter(({ state }) => state === 'skipped'));
    const { ms } = longestStall({
      ...{ events, ...this.#healthy, superseded: new Set(superseded.map(({ id }) => id)) },
      allowing: new Set(allowing.map(({ entry }) => entry.definition.name)),
    });
    return ms;
  }

  #told({
    recording,
    oracle,
    report,
    accounts,
    histories,
    told,
  }: Evidence): Omit<EpisodeVerdict, 'seen' | 'longestStallMs'> {
    const runs = accounts.flatMap((account) => account.runs);
    const linearity = checkLinearity(historiesOf([...recording.calls, ...this.#own.calls]));
    this.#leave(linearity);
    const conformance = checkConformance(recording.events, runs);
    const stuck = runs.filter(({ finishedAt, scheduledAt }) => finishedAt === null && scheduledAt <= this.#end);
    const missed = new Set([...oracle.missed, ...instantsFound(report, 'missed')]);
    const outdated = histories.flatMap((history) => history.outdated);
    const doubled = new Set([...oracle.doubled, ...instantsFound(report, 'doubled')]);
    return {
      topology: this.episode.topology,
      ...oracle,
      missed: missed.size,
      doubled: doubled.size,
      uncertain: this.#answerer.asked.size,
      stuckAfterHeal: stuck.length,
      unexplained: oracle.unexplained.length + report.unexplained + outdated.length + this.#wrong.length,
      notLinearizable: linearity.broken.length,
      notConforming: conformance.problems.length,
      definitionsLost: this.#kept.lost.length,
      ...{ silentChanges: told.silent.length, changes: told.changes, untoldChanges: told.untold },
      claimedWithoutLeases: this.episode.leases?.judge(recording.events).claimedWithoutLeases ?? 0,
      histories: linearity.histories,
      undecided: linearity.undecided.length,
      findings: [
        ...[...missed].map((id) => `${id} is missed`),
        ...[...doubled].map((id) => `${id} is doubled`),
        ...stuck.map(({ id, state }) => `${id} is still ${state}`),
        ...this.#kept.lost,
        ...oracle.unexplained,
        ...outdated,
        ...this.#wrong,
        ...told.silent,
        ...report.findings.map(({ text }) => text),
        ...linearity.broken.map((name) => `No one object could have answered so: ${name}`),
        ...conformance.problems,
      ],
    };
  }

  /** Beside the recording, which is kept where somebody asks for it. */
  #leave({ evidence }: LinearityReport): void {
    if (evidence.length === 0) return;
    const file = join(dirname(this.episode.recording), 'not-linearizable.json');
    writeFileSync(file, JSON.stringify(evidence, null, 1));
  }

  #seen({ events, calls }: Recording, { turnedDown }: SinkSnapshot, accounts: readonly CronAccount[]) {
    const { counts } = this.#answerer;
    const superseded = accounts.flatMap(({ runs }) => runs.filter(({ skipped }) => skipped === 'superseded')).length;
    return {
      ...observationsIn({ events, calls }),
      superseded,
      ...{ 'answered.done': counts.done, 'answered.not-done': counts['not-done'] },
      'claimed.minority-away': this.episode.leases?.judge(events).claimedWithMinorityAway ?? 0,
      ...{ 'sink.stale': turnedDown.stale, 'sink.repeated': turnedDown.repeated },
    };
  }
}

/** What the recorders' clock counts from, epoch milliseconds. */
function epochOf(): number {
  return Date.now() - now() / 1_000;
}

interface Evidence {
  readonly recording: Recording;
  readonly oracle: OracleReport;
  readonly report: AuditReport;
  readonly accounts: readonly CronAccount[];
  readonly histories: readonly DefinitionHistory[];
  readonly told: ToldChanges;
}

function instantsFound({ findings }: AuditReport, wanted: 'missed' | 'doubled'): string[] {
  return findings.flatMap(({ kind, cron, instant }) => (kind === wanted ? [`${cron}@${instant}`] : []));
}
