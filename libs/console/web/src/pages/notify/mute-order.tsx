import { useState } from 'preact/hooks';
import { notifyOrders } from '../../data/orders.js';
import { Choice, fieldOf, InstantField, isoOf, TextField } from '../../ui/fields.js';
import { Order } from '../../ui/order.js';
import { WORDS } from '../../words.js';

const { notify: words, heads } = WORDS;

const HOUR_MS = 3_600_000;

/** Mutes a cron or a tag: for an hour, unless somebody says otherwise. */
export function MuteOrder({ onClose }: { readonly onClose: () => void }) {
  const [kind, setKind] = useState('cron');
  const [name, setName] = useState('');
  const [until, setUntil] = useState(() => fieldOf(new Date(Date.now() + HOUR_MS).toISOString()));
  const execute = async (reason: string) => {
    const target = kind === 'tag' ? { tag: name.trim() } : { cron: name.trim() };
    await notifyOrders.mute({ ...target, reason, until: isoOf(until) });
    return words.isMuted(name.trim());
  };
  return (
    <Order title={words.muteTitle} text={words.muteText} verb={words.mute} {...{ execute, onClose }}>
      <Choice label={words.target} value={kind} options={words.targets} onChange={setKind} />
      <TextField label={kind === 'tag' ? heads.tag : heads.cron} required value={name} onChange={setName} />
      <InstantField label={heads.until} required value={until} onChange={setUntil} />
    </Order>
  );
}
