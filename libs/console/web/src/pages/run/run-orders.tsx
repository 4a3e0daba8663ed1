import { useState } from 'preact/hooks';
import { runOrders } from '../../data/orders.js';
import type { Run } from '../../data/types.js';
import { Check } from '../../ui/fields.js';
import { Order } from '../../ui/order.js';

interface RunOrderProps {
  readonly run: Run;
  readonly onClose: () => void;
}

export function RetryOrder({ run: { id }, onClose }: RunOrderProps) {
  const [force, setForce] = useState(false);
  const [repeatUnknown, setRepeatUnknown] = useState(false);
  const execute = async (reason: string) => {
    const { runId } = await runOrders.retry(id, { reason, force, repeatUnknown });
    return `It runs again as ${runId}.`;
  };
  return (
    <Order
      title={`Retry ${id}`}
      text="It runs again as a new run. Effects that are done are not repeated."
      verb="Retry"
      {...{ execute, onClose }}
    >
      <Check label="Also if the maximum of open runs is reached" checked={force} onChange={setForce} />
      <Check label="Also repeat effects whose outcome is unknown" checked={repeatUnknown} onChange={setRepeatUnknown} />
    </Order>
  );
}

export function CancelOrder({ run: { id }, onClose }: RunOrderProps) {
  const execute = async (reason: string) => {
    const { state } = await runOrders.cancel(id, { reason });
    return state === 'cancelling' ? 'It is being cancelled.' : 'It is cancelled.';
  };
  return (
    <Order
      title={`Cancel ${id}`}
      text="A waiting run is cancelled at once. A running one is signalled, and its writes are refused after the grace period."
      verb="Cancel the run"
      danger
      {...{ execute, onClose }}
    />
  );
}
