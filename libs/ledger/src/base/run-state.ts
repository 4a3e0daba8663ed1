/** Every state a run can be in. `uncertain` waits for a person. */
export type RunState =
  'claimed' | 'enqueued' | 'running' | 'orphaned' | 'uncertain' | 'succeeded' | 'failed' | 'cancelled' | 'skipped';

export type RunEvent =
  | 'claim'
  | 'skip'
  | 'confirm'
  | 'begin'
  | 'exhaust'
  | 'retry'
  | 'orphan'
  | 'succeed'
  | 'fail'
  | 'supersede'
  | 'expire'
  | 'need-operator'
  | 'answer'
  | 'give-up'
  | 'cancel';

export interface Transition {
  /** `null`: the instant has no record yet. */
  readonly from: RunState | null;
  readonly event: RunEvent;
  readonly to: RunState;
  /** Who causes it, and when. */
  readonly when: string;
}

/** The one table. The memory ledger walks it; the Redis ledger's scripts are held against it by the contract suite. */
export const TRANSITIONS: readonly Transition[] = [
  { from: null, event: 'claim', to: 'claimed', when: 'the lease holder claims a due occurrence under its fence' },
  {
    from: null,
    event: 'skip',
    to: 'skipped',
    when: 'an earlier run is open and the policy is to skip, or the cron is paused',
  },
  {
    from: 'claimed',
    event: 'confirm',
    to: 'enqueued',
    when: 'BullMQ has the job; on one Redis server in the same step as the claim',
  },
  { from: 'claimed', event: 'begin', to: 'running', when: 'a worker was faster than the confirmation' },
  { from: 'enqueued', event: 'begin', to: 'running', when: 'a worker begins an attempt under a larger fence' },
  { from: 'orphaned', event: 'begin', to: 'running', when: 'another worker takes the run over' },
  { from: 'running', event: 'begin', to: 'running', when: 'the run lease has expired and another worker takes over' },
  { from: 'running', event: 'orphan', to: 'orphaned', when: 'the sweep finds the run lease expired' },
  { from: 'running', event: 'retry', to: 'enqueued', when: 'the attempt failed and another one is allowed' },
  { from: 'running', event: 'succeed', to: 'succeeded', when: 'the handler returned' },
  { from: 'running', event: 'fail', to: 'failed', when: 'the last attempt failed' },
  { from: 'enqueued', event: 'exhaust', to: 'failed', when: 'every attempt is used up at the next begin' },
  { from: 'orphaned', event: 'exhaust', to: 'failed', when: 'every attempt is used up at the next begin' },
  { from: 'running', event: 'exhaust', to: 'failed', when: 'the last attempt was lost and the next begin finds it' },
  { from: 'claimed', event: 'supersede', to: 'skipped', when: 'a newer occurrence takes its place in the queue' },
  { from: 'enqueued', event: 'supersede', to: 'skipped', when: 'a newer occurrence takes its place in the queue' },
  { from: 'claimed', event: 'expire', to: 'skipped', when: 'no worker came before the start deadline' },
  { from: 'enqueued', event: 'expire', to: 'skipped', when: 'no worker came before the start deadline' },
  {
    from: 'running',
    event: 'need-operator',
    to: 'uncertain',
    when: 'the outcome of an effect is unknown and needs an operator',
  },
  { from: 'uncertain', event: 'answer', to: 'enqueued', when: 'an operator answers whether it happened' },
  { from: 'uncertain', event: 'give-up', to: 'failed', when: 'an operator gives the run up' },
  { from: 'uncertain', event: 'cancel', to: 'cancelled', when: 'it is cancelled instead of answered' },
  { from: 'claimed', event: 'cancel', to: 'cancelled', when: 'it is cancelled before it begins' },
  {
    from: 'enqueued',
    event: 'cancel',
    to: 'cancelled',
    when: 'it is cancelled before it begins, or between attempts',
  },
  { from: 'orphaned', event: 'cancel', to: 'cancelled', when: 'it is cancelled while no worker executes it' },
  {
    from: 'running',
    event: 'cancel',
    to: 'cancelled',
    when: 'the attempt stopped, or its grace passed and a successor begins',
  },
];

/** The state after `event`, or `null` when the table doesn't allow it. */
export function nextState(from: RunState | null, event: RunEvent): RunState | null {
  return TRANSITIONS.find((transition) => transition.from === from && transition.event === event)?.to ?? null;
}

const FINAL: readonly RunState[] = ['succeeded', 'failed', 'cancelled', 'skipped'];

/** Whether nothing may change the run any more. */
export function isTerminal(state: RunState): boolean {
  return FINAL.includes(state);
}
