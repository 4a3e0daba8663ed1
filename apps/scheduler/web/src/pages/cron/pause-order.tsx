import { useState } from 'preact/hooks';
import { cronOrders } from '../../data/orders.js';
import { InstantField, isoOf } from '../../ui/fields.js';
import { Order } from '../../ui/order.js';
import type { CronOrderProps } from './cron-order.js';

export function PauseOrder({ cron: { name }, onClose }: CronOrderProps) {
  const [until, setUntil] = useState('');
  const execute = async (reason: string) => {
    await cronOrders.pause(name, { reason, ...(until === '' ? {} : { until: isoOf(until) }) });
    return `${name} is paused.`;
  };
  return (
    <Order
      title={`Pause ${name}`}
      text="Its instants are recorded as skipped until it is resumed. What runs already goes on, and it can still be run by hand."
      verb="Pause"
      {...{ execute, onClose }}
    >
      <InstantField label="Until" hint="UTC; empty: until somebody resumes it" value={until} onChange={setUntil} />
    </Order>
  );
}
