import { useState } from 'preact/hooks';
import { may } from '../../data/session.js';
import type { Run } from '../../data/types.js';
import { CancelOrder, RetryOrder } from './run-orders.js';
import { OPEN_STATES } from './waterfall.js';
import { WORDS } from '../../words.js';

const { orders: words } = WORDS.run;

interface ActionsProps {
  readonly run: Run;
  readonly reload: () => void;
}

/** Retry for what failed or was cancelled, cancel for what is open; nothing for a viewer. */
export function RunActions({ run, reload }: ActionsProps) {
  const [asking, setAsking] = useState(false);
  if (!may('operator')) return null;
  const isOpen = OPEN_STATES.has(run.state);
  if (!isOpen && run.state !== 'failed' && run.state !== 'cancelled') return null;
  const close = () => {
    setAsking(false);
    reload();
  };
  const Asked = isOpen ? CancelOrder : RetryOrder;
  const verb = isOpen ? words.cancel : words.retry;
  return (
    <span class="buttons">
      <button
        type="button"
        class={isOpen ? 'danger' : ''}
        aria-label={words.named(verb, run.id)}
        onClick={() => setAsking(true)}
      >
        {verb} …
      </button>
      {asking ? <Asked run={run} onClose={close} /> : null}
    </span>
  );
}
