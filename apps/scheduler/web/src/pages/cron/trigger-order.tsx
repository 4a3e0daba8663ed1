import { useState } from 'preact/hooks';
import { cronOrders } from '../../data/orders.js';
import { Check, JsonField, jsonOf } from '../../ui/fields.js';
import { Order } from '../../ui/order.js';
import type { CronOrderProps } from './cron-order.js';

export function TriggerOrder({ cron: { name }, onClose }: CronOrderProps) {
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
      text="One run, beside its schedule. It ignores a pause and respects overlap."
      verb="Run now"
      {...{ execute, onClose }}
    >
      <JsonField label="Payload" hint="JSON; empty: that of its definition" value={payload} onChange={setPayload} />
      <Check label="Also while as many runs are open as may be" checked={force} onChange={setForce} />
    </Order>
  );
}
