import { useState } from 'preact/hooks';
import { runOrders } from '../../data/orders.js';
import type { Run } from '../../data/types.js';
import { Check } from '../../ui/fields.js';
import { Order } from '../../ui/order.js';
import { WORDS } from '../../words.js';

const { orders: words } = WORDS.run;

interface RunOrderProps {
  readonly run: Run;
  readonly onClose: () => void;
}

export function RetryOrder({ run: { id }, onClose }: RunOrderProps) {
  const [force, setForce] = useState(false);
  const [repeatUnknown, setRepeatUnknown] = useState(false);
  const execute = async (reason: string) => {
    const { runId } = await runOrders.retry(id, { reason, force, repeatUnknown });
    return words.again(runId);
  };
  return (
    <Order title={`${words.retry} ${id}`} text={words.retryText} verb={words.retry} {...{ execute, onClose }}>
      <Check label={words.force} checked={force} onChange={setForce} />
      <Check label={words.repeatUnknown} checked={repeatUnknown} onChange={setRepeatUnknown} />
    </Order>
  );
}

export function CancelOrder({ run: { id }, onClose }: RunOrderProps) {
  const execute = async (reason: string) => {
    const { state } = await runOrders.cancel(id, { reason });
    return state === 'cancelling' ? words.cancelling : words.cancelled;
  };
  return (
    <Order
      title={`${words.cancel} ${id}`}
      text={words.cancelText}
      verb={words.cancelVerb}
      danger
      {...{ execute, onClose }}
    />
  );
}
