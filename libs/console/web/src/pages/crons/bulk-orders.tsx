import { useState } from 'preact/hooks';
import { cronOrders } from '../../data/orders.js';
import { useResource } from '../../data/resource.js';
import { may } from '../../data/session.js';
import { Order } from '../../ui/order.js';
import { Shown } from '../../ui/states.js';
import { WORDS } from '../../words.js';

const { bulk: words } = WORDS;
type BulkOrder = keyof typeof words.verbs;
const ORDERS = ['pause', 'resume', 'trigger'] as const satisfies readonly BulkOrder[];

/** Orders to all crons with a tag; nothing for a viewer. */
export function BulkOrders({ tag }: { readonly tag: string }) {
  const [open, setOpen] = useState<BulkOrder | null>(null);
  if (tag === '' || !may('operator')) return null;
  return (
    <div class="buttons actions" role="group" aria-label={words.group(tag)}>
      {ORDERS.map((order) => (
        <button key={order} type="button" onClick={() => setOpen(order)}>
          {words.button(words.verbs[order], tag)}
        </button>
      ))}
      {open === null ? null : <Bulk key={open} order={open} tag={tag} onClose={() => setOpen(null)} />}
    </div>
  );
}

interface BulkProps {
  readonly order: BulkOrder;
  readonly tag: string;
  readonly onClose: () => void;
}

/** Shows what it will touch before it is given; where that is something else by then, nothing is done. */
function Bulk({ order, tag, onClose }: BulkProps) {
  const preview = useResource({
    key: JSON.stringify(['bulk', order, tag]),
    ask: () => cronOrders.bulk({ order, tag, dryRun: true, reason: 'preview', missed: 'skip' }),
  });
  const crons = preview.data?.crons;
  const execute = async (reason: string) => {
    if (crons === undefined) throw new Error(words.noPreview);
    const given = { order, tag, reason, expected: crons.length, dryRun: false, missed: 'skip' as const };
    const { done, failed } = await cronOrders.bulk(given);
    if (failed.length > 0) throw new Error(words.partly(done.length, failed));
    return words.done(words.verbs[order], done.length);
  };
  return (
    <Order
      title={words.title(words.verbs[order], tag)}
      text={words.text[order]}
      verb={words.verbs[order]}
      {...{ execute, onClose }}
    >
      <Shown of={preview} what={words.touched.toLowerCase()}>
        {({ crons: names }) => <Touched names={names} />}
      </Shown>
    </Order>
  );
}

function Touched({ names }: { readonly names: readonly string[] }) {
  return (
    <details open={names.length <= 10}>
      <summary>{words.count(names.length)}</summary>
      <ul class="names">
        {names.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
    </details>
  );
}
