import { useState } from 'preact/hooks';
import { cronOrders, ownLeaseOrders } from '../../data/orders.js';
import { leaseWatches } from '../../data/questions.js';
import type { Lease, OwnLease } from '../../data/types.js';
import { Check } from '../../ui/fields.js';
import { Order } from '../../ui/order.js';
import { WORDS } from '../../words.js';
import type { Watching } from './lease-watch.js';

const { clear: words } = WORDS.leases;

interface ClearProps {
  readonly onClose: () => void;
  /** Called with what is to be watched from now on. */
  readonly onCleared: (watching: Watching) => void;
}

export function ClearCronLease({ lease: { cron, holder, fence }, ...rest }: ClearProps & { readonly lease: Lease }) {
  const clear = async (reason: string): Promise<Watching> => {
    const { marker } = await cronOrders.clearLease(cron, { reason, fence });
    return { name: cron, query: leaseWatches.cron(cron, marker) };
  };
  return <ClearOrder title={words.of(cron)} text={words.cron(holder, fence)} clear={clear} {...rest} />;
}

export function ClearOwnLease({ lease, ...rest }: ClearProps & { readonly lease: OwnLease }) {
  const { kind, resource, holder, fence, holderIsPod } = lease;
  const clear = async (reason: string): Promise<Watching> => {
    await ownLeaseOrders.clear({ kind, resource, fence, reason, downstreamSafe: true });
    return { name: resource, query: leaseWatches.own({ kind, resource, fence, holder }) };
  };
  const text = words.own({ what: words.what[kind], holder, fence, isPod: holderIsPod });
  return <ClearOrder title={words.of(resource)} {...{ text, clear }} {...rest} />;
}

interface ClearOrderProps extends ClearProps {
  readonly title: string;
  readonly text: string;
  readonly clear: (reason: string) => Promise<Watching>;
}

/** Asks for the second confirmation beside the reason: that a late write of the old holder does no damage. */
function ClearOrder({ title, text, clear, onClose, onCleared }: ClearOrderProps) {
  const [isSafe, setSafe] = useState(false);
  const execute = async (reason: string) => {
    const watching = await clear(reason);
    onCleared(watching);
    return words.done(watching.name);
  };
  return (
    <Order {...{ title, text, execute, onClose }} verb={words.verb} danger>
      <Check label={words.safe} required checked={isSafe} onChange={setSafe} />
    </Order>
  );
}
