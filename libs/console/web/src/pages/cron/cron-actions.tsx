import { useState } from 'preact/hooks';
import { may } from '../../data/session.js';
import type { CronDetail } from '../../data/types.js';
import { BackfillOrder } from './backfill-order.js';
import { cronOrders } from '../../data/orders.js';
import { InstantField, isoOf, Choice, Check, JsonField } from '../../ui/fields.js';
import { jsonOf } from '../../ui/json-text.js';
import { Order } from '../../ui/order.js';
import type { CronOrderProps } from './cron-order.js';

const MISSED = [
  ['skip', 'skip them'],
  ['fire-once', 'cover them with one run'],
] as const;

function ResumeOrder({ cron: { name }, onClose }: CronOrderProps) {
  const [missed, setMissed] = useState('skip');
  const execute = async (reason: string) => {
    await cronOrders.resume(name, { reason, missed: missed === 'fire-once' ? missed : 'skip' });
    return `${name} fires again.`;
  };
  return (
    <Order
      title={`Resume ${name}`}
      text="It fires again from its next instant."
      verb="Resume"
      {...{ execute, onClose }}
    >
      <Choice label="Instants of the pause" value={missed} options={MISSED} onChange={setMissed} />
    </Order>
  );
}

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
    <div class="buttons actions" role="group" aria-label="Actions">
      <button type="button" class="primary" disabled={cron.state === 'removed'} onClick={() => setOpen('trigger')}>
        Run now …
      </button>
      {cron.paused ? (
        <button type="button" onClick={() => setOpen('resume')}>
          Resume …
        </button>
      ) : (
        <button type="button" disabled={cron.state !== 'active'} onClick={() => setOpen('pause')}>
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

function PauseOrder({ cron: { name }, onClose }: CronOrderProps) {
  const [until, setUntil] = useState('');
  const execute = async (reason: string) => {
    await cronOrders.pause(name, { reason, ...(until === '' ? {} : { until: isoOf(until) }) });
    return `${name} is paused.`;
  };
  return (
    <Order
      title={`Pause ${name}`}
      text="Its instants are recorded as skipped until it is resumed. Open runs continue, and it can still be triggered."
      verb="Pause"
      {...{ execute, onClose }}
    >
      <InstantField label="Until" hint="UTC; empty: until it is resumed" value={until} onChange={setUntil} />
    </Order>
  );
}

function RemoveOrder({ cron: { name, source }, onClose }: CronOrderProps) {
  const execute = async (reason: string) => {
    await cronOrders.remove(name, { reason });
    return `${name} is removed.`;
  };
  const back = source === null ? '' : ` A newer build of ${source} that still declares it brings it back.`;
  return (
    <Order
      title={`Remove ${name}`}
      text={`It no longer fires. Its history is kept.${back}`}
      verb="Remove"
      danger
      {...{ execute, onClose }}
    />
  );
}

function TriggerOrder({ cron: { name }, onClose }: CronOrderProps) {
  const [payload, setPayload] = useState('');
  const [force, setForce] = useState(false);
  const execute = async (reason: string) => {
    const given = jsonOf(payload);
    const body = { reason, force, ...(given === undefined ? {} : { payload: given }) };
    const { runId } = await cronOrders.trigger(name, body);
    return `${name} runs, as ${runId}.`;
  };
  return (
    <Order
      title={`Run ${name} now`}
      text="One run, in addition to its schedule. It ignores a pause and respects overlap."
      verb="Run now"
      {...{ execute, onClose }}
    >
      <JsonField label="Payload" hint="JSON; default: that of its definition" value={payload} onChange={setPayload} />
      <Check label="Also if the maximum of open runs is reached" checked={force} onChange={setForce} />
    </Order>
  );
}
