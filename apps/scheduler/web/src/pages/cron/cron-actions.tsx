import { useState } from 'preact/hooks';
import { may } from '../../data/session.js';
import type { CronDetail } from '../../data/types.js';
import { BackfillOrder } from './backfill-order.js';
import { PauseOrder } from './pause-order.js';
import { RemoveOrder } from './remove-order.js';
import { ResumeOrder } from './resume-order.js';
import { TriggerOrder } from './trigger-order.js';

const ORDERS = {
  trigger: TriggerOrder,
  pause: PauseOrder,
  resume: ResumeOrder,
  backfill: BackfillOrder,
  remove: RemoveOrder,
} as const;

type OrderName = keyof typeof ORDERS;

interface ActionsProps {
  readonly cron: CronDetail;
  readonly reload: () => void;
}

/** Nothing for a viewer: a button that is refused is worse than none. */
export function CronActions({ cron, reload }: ActionsProps) {
  const [open, setOpen] = useState<OrderName | null>(null);
  if (!may('operator')) return null;
  const close = () => {
    setOpen(null);
    reload();
  };
  const Asked = open === null ? null : ORDERS[open];
  return (
    <div class="buttons actions" role="group" aria-label="What can be done">
      <button type="button" class="primary" disabled={cron.state === 'removed'} onClick={() => setOpen('trigger')}>
        Run now …
      </button>
      {cron.paused ? (
        <button type="button" onClick={() => setOpen('resume')}>
          Resume …
        </button>
      ) : (
        <button type="button" disabled={cron.state !== 'firing'} onClick={() => setOpen('pause')}>
          Pause …
        </button>
      )}
      <button type="button" disabled={cron.manual} onClick={() => setOpen('backfill')}>
        Backfill …
      </button>
      {may('admin') ? (
        <button type="button" class="danger" disabled={cron.state === 'removed'} onClick={() => setOpen('remove')}>
          Remove …
        </button>
      ) : null}
      {Asked ? <Asked cron={cron} onClose={close} /> : null}
    </div>
  );
}
