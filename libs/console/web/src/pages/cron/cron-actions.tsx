import { useState } from 'preact/hooks';
import { may } from '../../data/session.js';
import type { CronDetail } from '../../data/types.js';
import { BackfillOrder } from './backfill-order.js';
import { cronOrders } from '../../data/orders.js';
import { InstantField, isoOf, Choice, Check, JsonField } from '../../ui/fields.js';
import { jsonOf } from '../../ui/json-text.js';
import { Order } from '../../ui/order.js';
import type { CronOrderProps } from './cron-order.js';
import { WORDS } from '../../words.js';

const { actions: words } = WORDS.cron;

const MISSED = [
  ['skip', words.missedSkip],
  ['fire-once', words.missedOnce],
] as const;

function ResumeOrder({ cron: { name }, onClose }: CronOrderProps) {
  const [missed, setMissed] = useState('skip');
  const execute = async (reason: string) => {
    await cronOrders.resume(name, { reason, missed: missed === 'fire-once' ? missed : 'skip' });
    return words.resumed(name);
  };
  return (
    <Order title={words.resumeTitle(name)} text={words.resumeText} verb={words.resume} {...{ execute, onClose }}>
      <Choice label={words.missed} value={missed} options={MISSED} onChange={setMissed} />
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
    <div class="buttons actions" role="group" aria-label={WORDS.heads.actions}>
      <button type="button" class="primary" disabled={cron.state === 'removed'} onClick={() => setOpen('trigger')}>
        {words.runNow} …
      </button>
      {cron.paused ? (
        <button type="button" onClick={() => setOpen('resume')}>
          {words.resume} …
        </button>
      ) : (
        <button type="button" disabled={cron.state !== 'active'} onClick={() => setOpen('pause')}>
          {words.pause} …
        </button>
      )}
      <button type="button" disabled={cron.manual} onClick={() => setOpen('backfill')}>
        {words.backfill} …
      </button>
      {may('admin') ? (
        <button type="button" class="danger" disabled={cron.state === 'removed'} onClick={() => setOpen('remove')}>
          {words.remove} …
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
    return words.paused(name);
  };
  return (
    <Order title={words.pauseTitle(name)} text={words.pauseText} verb={words.pause} {...{ execute, onClose }}>
      <InstantField label={WORDS.heads.until} hint={words.untilHint} value={until} onChange={setUntil} />
    </Order>
  );
}

function RemoveOrder({ cron: { name, app }, onClose }: CronOrderProps) {
  const execute = async (reason: string) => {
    const { declaredBy } = await cronOrders.remove(name, { reason });
    return declaredBy === null ? words.removed(name) : `${words.removed(name)} ${words.comesBack(declaredBy)}`;
  };
  const back = app === null ? '' : ` ${words.onlyPaused(app)} ${words.comesBack(app)}`;
  return (
    <Order
      title={words.removeTitle(name)}
      text={`${words.removeText}${back}`}
      verb={words.remove}
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
    return words.running(name, runId);
  };
  return (
    <Order title={words.runTitle(name)} text={words.runText} verb={words.runNow} {...{ execute, onClose }}>
      <JsonField label={WORDS.heads.payload} hint={words.payloadHint} value={payload} onChange={setPayload} />
      <Check label={WORDS.run.orders.force} checked={force} onChange={setForce} />
    </Order>
  );
}
