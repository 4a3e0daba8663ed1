import { randomUUID } from 'node:crypto';
import { parseFence } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import { MemoryAuditTrail, MemoryCatalog, MemoryLedger } from '@fencepost/ledger/memory';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import type { AttemptOutcome, ClaimReply, ClaimRequest } from '@fencepost/ledger';
import type { SkipReason } from '@fencepost/ledger/run';
import { CronCatalog, CronOperator } from '@fencepost/operations';
import { MemoryMembership } from '@fencepost/jobs/internal/scheduling';
import { MemoryRunQueue } from '@fencepost/testing';
import { CRON, definitionOf, SECOND, START } from './audit-history.js';
import { Jobs } from '@fencepost/jobs';
import { flaky, type Flaky } from './flaky.js';
import { replaceDefinitions } from './replace-definitions.js';

/** Everything an operator touches, in memory, and a scheduler and a worker that act when they are told to. */
export class OperatingStage {
  readonly clock = new ManualClock(START);
  readonly catalog = new MemoryCatalog(this.clock);
  readonly ledger = new MemoryLedger(this.clock);
  readonly queue = new MemoryRunQueue({ clock: this.clock });
  readonly audit = new MemoryAuditTrail({ clock: this.clock });
  readonly membership = new MemoryMembership({ clock: this.clock, version: () => this.catalog.version });
  readonly crons = new CronCatalog({ catalog: this.catalog, clock: this.clock });
  readonly operator = this.operatorOf({});
  #revision = 0;

  /** An operator some of whose ports are others. */
  operatorOf(ports: Partial<ConstructorParameters<typeof CronOperator>[0]>): CronOperator {
    const { catalog, ledger, queue, membership, clock, audit } = this;
    return new CronOperator({ catalog, ledger, queue, membership, clock, audit, ...ports });
  }

  /** The n-th second of the cron's life. */
  at(second: number): number {
    return START + second * SECOND;
  }

  idOf(second: number): string {
    return `${CRON}@${this.at(second)}`;
  }

  /** By a new revision each time, whose pods alone are live. */
  async declare(...definitions: readonly Partial<CronDefinition>[]): Promise<void> {
    const declarations = definitions.map((over) => ({ definition: definitionOf(over), disabled: false }));
    await replaceDefinitions(this.catalog, declarations, { app: 'test', revision: (this.#revision += 1) });
  }

  /** A scheduler claims the instant of a second, or writes off what came until then. */
  async claim(second: number, over: Partial<ClaimRequest> = {}): Promise<ClaimReply> {
    const scheduledAt = this.at(second);
    const reply = await this.ledger.claim({
      cron: CRON,
      fence: parseFence('1'),
      term: 'term',
      holder: 'pod/1',
      generation: 1,
      nonce: randomUUID(),
      cursor: (await this.ledger.readCron(CRON)).cursor,
      skips: [],
      occurrence: { scheduledAt, dueAt: scheduledAt, reason: 'schedule', missed: null },
      overlap: 'skip',
      ...over,
    });
    return reply;
  }

  async writeOff(after: number, through: number, reason: SkipReason = 'misfire'): Promise<void> {
    const skips = [{ after: this.at(after), through: this.at(through), reason }];
    const reply = await this.claim(through, { skips, occurrence: null });
    if (reply.verdict !== 'recorded') throw new Error(`Expected to be recorded, got ${reply.verdict}.`);
  }

  /** A worker carries the run out, to this end. */
  async execute(runId: string, end: Partial<AttemptOutcome> = {}): Promise<void> {
    const nonce = randomUUID();
    const reply = await this.ledger.begin({ runId, nonce, worker: 'worker/1', ttlMs: 60_000, maxAttempts: 1 });
    if (reply.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${reply.verdict}.`);
    const outcome = { kind: 'succeeded', ...end } as AttemptOutcome;
    await this.ledger.finish({ runId, nonce, fence: reply.fence }, outcome);
  }

  /** Claims the instant of a second and carries it out. */
  async ran(...seconds: readonly number[]): Promise<void> {
    for (const second of seconds) {
      await this.claim(second);
      await this.execute(this.idOf(second));
    }
  }

  /** The crons that the pods are asked to look at. */
  async asked(): Promise<string[]> {
    return (await this.membership.heartbeat('pod/1')).overdue.map(({ cron }) => cron);
  }
}

type JobsPorts = ConstructorParameters<typeof Jobs>[0];

export const JOB = 'send-mail';

export interface JobsStage {
  readonly stage: OperatingStage;
  readonly catalog: Flaky<MemoryCatalog>;
  readonly ledger: Flaky<MemoryLedger>;
  readonly queue: Flaky<MemoryRunQueue>;
  readonly ports: JobsPorts;
  readonly jobs: Jobs;
}

/** A job beside a cron, who enqueues it, and everything it touches, all of which can fail. */
export async function jobsStage(over: Partial<JobsPorts> = {}): Promise<JobsStage> {
  const stage = new OperatingStage();
  await stage.declare({}, { name: JOB, expression: '@manual', overlap: 'allow' });
  const catalog = flaky(stage.catalog);
  const ledger = flaky(stage.ledger);
  const queue = flaky(stage.queue);
  const { clock, membership } = stage;
  const ports = { catalog: catalog.port, ledger: ledger.port, queue: queue.port, membership, clock, ...over };
  return { stage, catalog, ledger, queue, ports, jobs: new Jobs(ports) };
}
