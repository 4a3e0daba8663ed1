import { useState } from 'preact/hooks';
import { cronOrders } from '../../data/orders.js';
import { InstantField, isInstantField, isoOf } from '../../ui/fields.js';
import { Order } from '../../ui/order.js';
import { WORDS } from '../../words.js';
import { backfillText } from './backfill-words.js';
import type { CronOrderProps } from './cron-order.js';

const { actions: words } = WORDS.cron;

export function BackfillOrder({ cron, onClose }: CronOrderProps) {
  const { name } = cron;
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const ask = async (how: { readonly reason: string; readonly dryRun: boolean }) =>
    cronOrders.backfill(name, { from: isoOf(from), to: isoOf(to), ...how });
  return (
    <Order
      title={words.backfillTitle(name)}
      text={words.backfillText}
      verb={words.backfill}
      execute={async (reason) => backfillText(await ask({ reason, dryRun: false }), cron)}
      onClose={onClose}
    >
      <InstantField label={words.from} hint={words.fromHint} value={from} onChange={setFrom} required />
      <InstantField label={words.to} hint={words.toHint} value={to} onChange={setTo} required />
      {isInstantField(from) && isInstantField(to) ? (
        <Preview
          key={`${from} ${to}`}
          ask={async () => backfillText(await ask({ reason: 'preview', dryRun: true }), cron)}
        />
      ) : null}
    </Order>
  );
}

/** What it would do, before somebody does it. */
function Preview({ ask }: { readonly ask: () => Promise<string> }) {
  const [said, setSaid] = useState<string | null>(null);
  const look = () => {
    setSaid(words.looking);
    ask().then(
      (text) => setSaid(words.would(text)),
      (error: unknown) => setSaid(error instanceof Error ? error.message : String(error)),
    );
  };
  return (
    <p class="preview">
      <button type="button" onClick={look}>
        {words.preview}
      </button>{' '}
      <span role="status">{said}</span>
    </p>
  );
}
