import { useState } from 'preact/hooks';
import { cronOrders, ownLeaseOrders } from '../../data/orders.js';
import { leaseWatches } from '../../data/questions.js';
import type { Lease, OwnLease } from '../../data/types.js';
import { Check } from '../../ui/fields.js';
import { Order } from '../../ui/order.js';
import type { Watching } from './lease-watch.js';

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
  const text = `${holder} holds the lease of this cron with fence ${fence}. Make sure that pod is dead: if it is alive, its writes are refused from now on, and another pod takes over the cron. The ledger refuses late writes; effects outside it are for you to check.`;
  return <ClearOrder title={`Clear the lease of ${cron}`} {...{ text, clear }} {...rest} />;
}

const WHAT: Readonly<Record<OwnLease['kind'], string>> = {
  lease: 'a lease of the application itself',
  semaphore: 'one place of a semaphore',
  election: 'the role of an election',
  flight: 'the lease of a single flight',
};

export function ClearOwnLease({ lease, ...rest }: ClearProps & { readonly lease: OwnLease }) {
  const { kind, resource, holder, fence, holderIsPod } = lease;
  const clear = async (reason: string): Promise<Watching> => {
    await ownLeaseOrders.clear({ kind, resource, fence, reason, downstreamSafe: true });
    return { name: resource, query: leaseWatches.own({ kind, resource, fence, holder }) };
  };
  const alive = holderIsPod ? 'It is a live pod.' : 'It is not a live pod; other processes do not report.';
  const text = `This is ${WHAT[kind]}. ${holder} holds it with fence ${fence}. ${alive} Make sure that it is dead, or wait: a dead holder’s lease ends by itself. What it still writes must be refused by its fence, or do no damage.`;
  return <ClearOrder title={`Clear the lease of ${resource}`} {...{ text, clear }} {...rest} />;
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
    return `The lease of ${watching.name} is cleared. Watching for duplicates.`;
  };
  return (
    <Order {...{ title, text, execute, onClose }} verb="Clear the lease" danger>
      <Check label="I have made sure that its downstream is safe" required checked={isSafe} onChange={setSafe} />
    </Order>
  );
}
