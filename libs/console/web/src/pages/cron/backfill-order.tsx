import { useState } from 'preact/hooks';
import { cronOrders } from '../../data/orders.js';
import { InstantField, isoOf } from '../../ui/fields.js';
import { Order } from '../../ui/order.js';
import { backfillText } from './backfill-words.js';
import type { CronOrderProps } from './cron-order.js';

export function BackfillOrder({ cron, onClose }: CronOrderProps) {
  const { name } = cron;
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const ask = async (words: { readonly reason: string; readonly dryRun: boolean }) =>
    cronOrders.backfill(name, { from: isoOf(from), to: isoOf(to), ...words });
  return (
    <Order
      title={`Backfill ${name}`}
      text="Runs past instants that did not run, oldest first. Instants that ran are not repeated."
      verb="Backfill"
      execute={async (reason) => backfillText(await ask({ reason, dryRun: false }), cron)}
      onClose={onClose}
    >
      <InstantField label="From" hint="UTC, included" value={from} onChange={setFrom} required />
      <InstantField label="To" hint="UTC, not included" value={to} onChange={setTo} required />
      {from !== '' && to !== '' ? (
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
    setSaid('Looking …');
    ask().then(
      (text) => setSaid(`Would do: ${text}`),
      (error: unknown) => setSaid(error instanceof Error ? error.message : String(error)),
    );
  };
  return (
    <p class="preview">
      <button type="button" onClick={look}>
        Preview
      </button>{' '}
      <span role="status">{said}</span>
    </p>
  );
}
