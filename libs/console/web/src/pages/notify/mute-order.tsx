import { useState } from 'preact/hooks';
import { notifyOrders } from '../../data/orders.js';
import { Choice, fieldOf, InstantField, isoOf } from '../../ui/fields.js';
import { Order } from '../../ui/order.js';

const HOUR_MS = 3_600_000;

const TARGETS = [
  ['cron', 'One cron'],
  ['tag', 'All crons with a tag'],
] as const;

/** Mutes a cron or a tag: for an hour, unless somebody says otherwise. */
export function MuteOrder({ onClose }: { readonly onClose: () => void }) {
  const [kind, setKind] = useState('cron');
  const [name, setName] = useState('');
  const [until, setUntil] = useState(() => fieldOf(new Date(Date.now() + HOUR_MS).toISOString()));
  const execute = async (reason: string) => {
    const target = kind === 'tag' ? { tag: name.trim() } : { cron: name.trim() };
    await notifyOrders.mute({ ...target, reason, until: isoOf(until) });
    return `${name.trim()} is muted.`;
  };
  const text = 'Alarms are still raised and shown here. Webhooks and pings do not go out until the mute ends.';
  return (
    <Order title="Mute alarms" verb="Mute" {...{ text, execute, onClose }}>
      <Choice label="What" value={kind} options={TARGETS} onChange={setKind} />
      <label class="field">
        <span>{kind === 'tag' ? 'Tag' : 'Cron'}</span>
        <input type="text" required value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      <InstantField label="Until" required value={until} onChange={setUntil} />
    </Order>
  );
}
