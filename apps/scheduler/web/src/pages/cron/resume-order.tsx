import { useState } from 'preact/hooks';
import { cronOrders } from '../../data/orders.js';
import { Choice } from '../../ui/fields.js';
import { Order } from '../../ui/order.js';
import type { CronOrderProps } from './cron-order.js';

const MISSED = [
  ['skip', 'leave them out'],
  ['fire-once', 'one run stands for all of them'],
] as const;

export function ResumeOrder({ cron: { name }, onClose }: CronOrderProps) {
  const [missed, setMissed] = useState('skip');
  const execute = async (reason: string) => {
    await cronOrders.resume(name, { reason, missed: missed === 'fire-once' ? missed : 'skip' });
    return `${name} fires again.`;
  };
  return (
    <Order
      title={`Resume ${name}`}
      text="It fires again from its next instant on."
      verb="Resume"
      {...{ execute, onClose }}
    >
      <Choice label="Instants of the pause" value={missed} options={MISSED} onChange={setMissed} />
    </Order>
  );
}
