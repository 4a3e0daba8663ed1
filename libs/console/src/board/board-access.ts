import type { BoardHooks, HookContext } from '@bull-board/api/typings/app';
import { Inject, Injectable } from '@nestjs/common';
import { LEDGER } from '@fencepost/jobs';
import { AUDIT_TRAIL } from '@fencepost/operations';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import type { RunHistory } from '@fencepost/ledger';
import type { Run } from '@fencepost/ledger/run';
import { RUN_QUEUE, type BullmqRunQueue } from '@fencepost/jobs/internal';
import { mayAs, type AccessRole } from '@fencepost/operations/access-tokens';
import { callerHere } from '../auth/caller.js';

/**
 * Who may do what on the board, by the end of its route; what is not here needs `admin`. Nobody may put work into the queue
 * that the ledger has not accepted, or change what a job says: a delivery is a hint, and the record is elsewhere.
 */
const NEEDED: readonly (readonly [route: RegExp, needed: AccessRole | null])[] = [
  [/\/(add|update-data|remove-unprocessed-children|retry\/:queueStatus)$/, null],
  [/\/job-schedulers\/:schedulerId$/, null],
  [/\/job-schedulers\/:schedulerId\/run$/, 'operator'],
  [/\/:jobId\/(retry|promote|delay|priority)$/, 'operator'],
];

/** These leave a record of their own, with what was there before. */
const RECORDED = /\/job-schedulers\//;

/** Of the whole queue; there is one, so all queues are the same. */
const STOPS = /\/queues\/(:queueName\/)?(pause|resume)$/;

const RETRY = /\/:jobId\/retry$/;
const OVER: readonly Run['state'][] = ['succeeded', 'failed', 'cancelled', 'skipped', 'uncertain'];

/** Bull Board knows nobody and lets everybody do everything: this decides each call, and records each that changed something. */
@Injectable()
export class BoardAccess implements BoardHooks {
  /** What was there before a call, by its request, for as long as it is under way. */
  readonly #found = new WeakMap<object, object>();

  constructor(
    @Inject(AUDIT_TRAIL) private readonly trail: AuditTrail,
    @Inject(LEDGER) private readonly ledger: Pick<RunHistory, 'readRun'>,
    @Inject(RUN_QUEUE) private readonly runs: BullmqRunQueue,
  ) {}

  readonly before = async ({ method, route, request }: HookContext) => {
    if (method === 'get') return { allow: true };
    const message = refusalOf(route) ?? (await this.#decided(route, request));
    if (message !== null) return { allow: false, status: 403 as const, message };
    if (STOPS.test(route)) this.#found.set(request, { paused: await this.runs.queues.named('runs').isPaused() });
    return { allow: true };
  };

  readonly after: NonNullable<BoardHooks['after']> = async ({ method, route, request }, result) => {
    if (method === 'get' || RECORDED.test(route) || (result.status ?? 200) >= 400) return result;
    const { name: by, role, address } = callerHere();
    const runId = runOf(request);
    const cron = runId === null ? null : runId.slice(0, runId.lastIndexOf('@'));
    const after = { route, ...(request.body && { asked: request.body }) };
    const about = { by, role, from: `queues ${address}`, action: actionOf(route), cron, runId };
    await this.trail.append({ ...about, before: this.#found.get(request) ?? null, after, reason: null });
    return result;
  };

  /** A run that is over is over, whatever becomes of the job that brought it: the ledger says so, and nothing is repeated. */
  async #decided(route: string, request: HookContext['request']): Promise<string | null> {
    const runId = RETRY.test(route) ? runOf(request) : null;
    const run = runId === null ? null : await this.ledger.readRun(runId);
    if (!run || !OVER.includes(run.state)) return null;
    return `The run ${run.id} is ${run.state}, so this job has no effect any more. Its actions are on its page in the console.`;
  }
}

function refusalOf(route: string): string | null {
  const [, needed] = NEEDED.find(([place]) => place.test(route)) ?? [route, 'admin' as const];
  if (needed === null)
    return 'Not available here: only runs accepted by the ledger are executed. Use the console instead.';
  const { role } = callerHere();
  return mayAs(role, needed) ? null : `This needs the role ${needed}, and you are ${role}.`;
}

function actionOf(route: string): string {
  const words = route
    .split('/')
    .filter((word) => word !== '' && !word.startsWith(':') && word !== 'api' && word !== 'queues');
  return `queue-${words.join('-')}`;
}

/** The job of a later delivery is called after it. */
function runOf({ params }: HookContext['request']): string | null {
  const jobId: unknown = params['jobId'];
  return typeof jobId === 'string' ? jobId.replace(/-d\d+$/, '') : null;
}
