import type { Mute, MuteTarget } from '../alarms/mutes.js';
import type { CancelReply, TriggerReply } from '@fencepost/ledger';
import type { Pause, RunState } from '@fencepost/ledger/run';
import { NOT_TRIED, type BulkOrder, type BulkReport } from './bulk-order.js';
import type { BackfillReport } from './backfill-report.js';

interface Ended {
  readonly ended: Pause | null;
  readonly runId: string | null;
}

/** A cron that was removed. */
export interface Removal {
  /** The app that declared it, of which no pod is live: a pod that declares it again brings it back. `null`: made at run time. */
  readonly declaredBy: string | null;
}

/** What the audit record of an order shows of its result: the same from the API, the command line and a program's own code. */
export const ORDER_RECORDS = {
  pause: {
    action: 'pause',
    after: ({ since, until, by, reason }: Pause) => ({ since: iso(since), until: until && iso(until), by, reason }),
  },
  resume: {
    action: 'resume',
    changed: ({ ended }: Ended) => ended !== null,
    runOf: ({ runId }: Ended) => runId,
    after: ({ runId }: Ended) => ({ paused: null, runId }),
  },
  trigger: {
    action: 'trigger',
    changed: ({ verdict }: TriggerReply) => verdict === 'claimed',
    runOf: (reply: TriggerReply) => (reply.verdict === 'claimed' ? reply.runId : null),
  },
  /** One record of an order to many crons, which names them. */
  many: ({ order, tag }: Pick<BulkOrder, 'order' | 'tag'>) => ({
    action: order,
    changed: ({ done }: BulkReport) => done.length > 0,
    // One that failed may have been changed; one that was not tried was not.
    cronsOf: ({ done, failed }: BulkReport) => [...done, ...failed.filter(wasTried).map(({ cron }) => cron)],
    after: ({ failed }: BulkReport) => ({ tag: tag ?? null, failed: failed.map(({ cron }) => cron) }),
  }),
  cancel: {
    action: 'cancel',
    changed: ({ verdict }: CancelReply) => verdict === 'cancelled' || verdict === 'cancelling',
  },
  remove: {
    action: 'remove',
    after: ({ declaredBy }: Removal) => ({ state: 'removed', ...(declaredBy !== null && comesBack(declaredBy)) }),
  },
  mute: (target: MuteTarget) => ({
    action: 'mute',
    ...aboutTarget(target),
    after: ({ until, by, reason }: Mute) => ({ ...target, until: iso(until), by, reason }),
  }),
  unmute: (target: MuteTarget) => ({
    action: 'unmute',
    ...aboutTarget(target),
    changed: (ended: Mute | null) => ended !== null,
    after: () => ({ ...target, muted: null }),
  }),
  resolve: (answer: string) => ({
    action: 'resolve',
    after: ({ state }: { readonly state: RunState }) => ({ state, answer }),
  }),
  backfill: ({ from, to, open }: { readonly from: number; readonly to: number; readonly open?: unknown }) => ({
    action: 'backfill',
    // A further part that only waited has changed nothing.
    changed: ({ accepted }: BackfillReport) => open === undefined || accepted > 0,
    after: ({ instants, accepted, left, aborted }: BackfillReport) => ({
      ...{ from: iso(from), to: iso(to), instants, accepted, left, aborted },
    }),
  }),
};

function comesBack(app: string): object {
  return { declaredBy: app, comesBack: `when a pod of "${app}" declares it again` };
}

function wasTried({ code }: BulkReport['failed'][number]): boolean {
  return code !== NOT_TRIED;
}

/** A record about a tag is about no one cron, and names the tag in what became of it. */
function aboutTarget(target: MuteTarget) {
  return { cron: 'cron' in target ? target.cron : null };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
