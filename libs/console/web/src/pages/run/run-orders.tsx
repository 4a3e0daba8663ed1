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
      text="It runs again as a run of its own. What was done stays done, and it goes on from there."
      verb="Retry"
      {...{ execute, onClose }}
    >
      <Check label="Also while as many runs are open as may be" checked={force} onChange={setForce} />
      <Check
        label="Also repeat effects of which nobody knows whether they happened"
        checked={repeatUnknown}
        onChange={setRepeatUnknown}
      />
    </Order>
  );
}

export function CancelOrder({ run: { id }, onClose }: RunOrderProps) {
  const execute = async (reason: string) => {
    const { state } = await runOrders.cancel(id, { reason });
    return state === 'cancelling' ? 'It is told to stop.' : 'It is cancelled.';
  };
  return (
    <Order
      title={`Cancel ${id}`}
      text="What waits is cancelled at once. What runs is told to stop, and fenced out when it does not."
      verb="Cancel the run"
      danger
      {...{ execute, onClose }}
    />
  );
}
