import type { BoardHooks, HookContext } from '@bull-board/api/typings/app';
import { Inject, Injectable } from '@nestjs/common';
import { AUDIT_TRAIL } from '@fencepost/operations';
import { READS, type Reads } from '@fencepost/operations/internal';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { mayAs, type AccessRole } from '@fencepost/operations/access-tokens';
import { callerHere } from '../auth/caller.js';

/**
 * Who may do what on the board, by the end of its route; what is not here needs `admin`. Nobody may put work into the queue
 * that the ledger has not accepted, or change what a job says: a delivery is a hint, and the record is elsewhere.
 */
const NEEDED: readonly (readonly [route: RegExp, needed: AccessRole])[] = [
  [/\/job-schedulers\/:schedulerId\/run$/, 'operator'],
  [/\/:jobId\/(retry|promote|delay|priority)$/, 'operator'],
];

const ONLY_ACCEPTED = 'only runs accepted by the ledger are executed. Use the console instead.';

/** What no role may do, and why. The board's page has no button for them. */
const NOT_HERE: readonly (readonly [route: RegExp, why: string])[] = [
  [/\/(add|update-data|remove-unprocessed-children|job-schedulers\/:schedulerId)$/, ONLY_ACCEPTED],
  [
    /\/retry\/:queueStatus$/,
    'retry runs one by one, or together on the page Runs of the console, under "Failures by error".',
  ],
];

/** These leave a record of their own, with what was there before. */
const RECORDED = /\/job-schedulers\/|\/:jobId\/retry$/;

/** What is set on a whole queue. */
const LIMITS = /\/queues\/(:queueName\/)?(pause|resume|concurrency|rate-limit|rate-limit\/release)$/;

/** When a job is brought to a worker, and not when its run may start. */
const HURRIES = /\/:jobId\/(promote|delay)$/;

/** Bull Board knows nobody and lets everybody do everything: this decides each call, and records each that changed something. */
@Injectable()
export class BoardAccess implements BoardHooks {
  /** What was there before a call, by its request, for as long as it is under way. */
  readonly #found = new WeakMap<object, object>();

  constructor(
    @Inject(AUDIT_TRAIL) private readonly trail: AuditTrail,
    @Inject(READS) private readonly reads: Pick<Reads, 'ledger' | 'queueLimits'>,
  ) {}

  readonly before = async ({ method, route, request }: HookContext) => {
    if (method === 'get') return { allow: true };
    const refused = refusalOf(route);
    if (refused !== null) return { allow: false, status: 403 as const, message: refused };
    const early = HURRIES.test(route) ? await this.#early(request) : null;
    if (early !== null) return { allow: false, status: 409 as const, message: early };
    if (LIMITS.test(route)) this.#found.set(request, await this.#limits(request));
    return { allow: true };
  };

  readonly after: NonNullable<BoardHooks['after']> = async ({ method, route, request }, result) => {
    if (method === 'get' || RECORDED.test(route) || (result.status ?? 200) >= 400) return result;
    const { name: by, role, address } = callerHere();
    const runId = runOf(request);
    const cron = runId === null ? null : runId.slice(0, runId.lastIndexOf('@'));
    const { queueName: queue, queueStatus: status } = request.params;
    const after = {
      route,
      ...(queue && { queue }),
      ...(status && { status }),
      ...(request.body && { asked: request.body }),
    };
    const about = { by, role, from: `queues ${address}`, action: actionOf(route), cron, runId };
    await this.trail.append({ ...about, before: this.#found.get(request) ?? null, after, reason: null });
    return result;
  };

  /** A worker that gets a job before its run may start puts it back: hurrying the job would only look as if it helped. */
  async #early(request: HookContext['request']): Promise<string | null> {
    const runId = runOf(request);
    const run = runId === null ? null : await this.reads.ledger.readRun(runId);
    if (run?.state !== 'enqueued' || run.notBefore === null) return null;
    const at = new Date(run.notBefore).toISOString();
    return `The run ${run.id} starts no earlier than ${at}, whenever its job reaches a worker. Nothing was changed.`;
  }

  async #limits({ params }: HookContext['request']): Promise<object> {
    const all = await this.reads.queueLimits();
    const named: unknown = params['queueName'];
    const limits = all.filter(({ queue }) => named === undefined || queue === named);
    const shown = limits.map(({ queue, isPaused, concurrency, rate }) => [
      queue,
      { paused: isPaused, concurrency, rate },
    ]);
    return Object.fromEntries(shown) as object;
  }
}

function refusalOf(route: string): string | null {
  const [, why] = NOT_HERE.find(([place]) => place.test(route)) ?? [];
  if (why !== undefined) return `Not available here: ${why}`;
  const [, needed] = NEEDED.find(([place]) => place.test(route)) ?? [route, 'admin' as const];
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
