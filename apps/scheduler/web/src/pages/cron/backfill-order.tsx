import { useState } from 'preact/hooks';
import type { BackfillReport } from '../../data/types.js';
import { cronOrders } from '../../data/orders.js';
import { InstantField, isoOf } from '../../ui/fields.js';
import { Order } from '../../ui/order.js';
import type { CronOrderProps } from './cron-order.js';

export function BackfillOrder({ cron: { name }, onClose }: CronOrderProps) {
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const ask = async (words: { readonly reason: string; readonly dryRun: boolean }) =>
    cronOrders.backfill(name, { from: isoOf(from), to: isoOf(to), ...words });
  return (
    <Order
      title={`Backfill ${name}`}
      text="Runs past instants that did not run, oldest first. Those that ran are left alone."
      verb="Backfill"
      carryOut={async (reason) => sentence(await ask({ reason, dryRun: false }))}
      onClose={onClose}
    >
      <InstantField label="From" hint="UTC, included" value={from} onChange={setFrom} required />
      <InstantField label="To" hint="UTC, not included" value={to} onChange={setTo} required />
      {from !== '' && to !== '' ? (
        <Preview key={`${from} ${to}`} ask={() => ask({ reason: 'preview', dryRun: true })} />
      ) : null}
    </Order>
  );
}

/** What it would do, before somebody does it. */
function Preview({ ask }: { readonly ask: () => Promise<BackfillReport> }) {
  const [said, setSaid] = useState<string | null>(null);
  const look = () => {
    setSaid('Looking …');
    ask().then(
      (report) => setSaid(`Would do: ${sentence(report)}`),
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

function sentence({ instants, accepted, left }: BackfillReport): string {
  const others = Object.entries(left).map(([why, count]) => `${count} ${why}`);
  const alone = others.length === 0 ? '' : `; left alone: ${others.join(', ')}`;
  return `${accepted} of ${instants} instants run${alone}.`;
}
