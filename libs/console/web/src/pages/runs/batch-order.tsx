import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { askAgain } from '../../data/live.js';
import { runOrders } from '../../data/orders.js';
import { to } from '../../data/paths.js';
import type { Run, RunBatch } from '../../data/types.js';
import { Choice } from '../../ui/fields.js';
import { Order } from '../../ui/order.js';
import { WORDS } from '../../words.js';
import { askedOf, batchesOf, type BatchName } from './batch.js';

const { runs: words } = WORDS;

interface BatchProps {
  readonly order: BatchName;
  readonly runIds: readonly string[];
  /** The runs themselves, where they are answered: each question is named. */
  readonly runs?: readonly Run[];
  /** How many more were selected, which it is not for. */
  readonly others?: number;
  readonly onClose: () => void;
}

type Answer = 'give-up' | 'not-done' | 'done';

const ANSWERS = (['give-up', 'not-done', 'done'] as const).map((key) => [key, words.answers[key]] as const);

/** One order to several runs: what it touches is shown before it is given, and how far it is while it goes on. */
export function BatchOrder({ order, runIds, runs = [], others = 0, onClose }: BatchProps) {
  const [answer, setAnswer] = useState<Answer>('give-up');
  const [done, setDone] = useState<number | null>(null);
  const execute = async (reason: string) => {
    const replies = await each(runIds, setDone, (ids) => {
      const asked = askedOf(runs.filter(({ id }) => ids.includes(id)));
      const answered = order === 'resolve' ? { answer, asked } : {};
      return runOrders.batch({ order, runIds: [...ids], reason, ...answered });
    });
    return said(replies);
  };
  const verb = words.verbs[order];
  return (
    <Order
      title={words.batchTitle(verb, runIds.length)}
      text={words.batchText[order]}
      {...{ verb, execute, onClose }}
      danger={order !== 'retry'}
    >
      <ul class="plain-list touched" aria-label={words.touched} tabIndex={0}>
        {runIds.map((id) => (
          <li key={id}>
            <Link href={to.run(id)}>{id}</Link>
          </li>
        ))}
      </ul>
      {others === 0 ? null : <p class="quiet">{words.others(others)}</p>}
      {order === 'resolve' ? (
        <Choice
          label={words.answer}
          value={answer}
          options={ANSWERS}
          onChange={(value) => setAnswer(value === 'done' || value === 'not-done' ? value : 'give-up')}
        />
      ) : null}
      {done === null ? null : <Progress done={done} all={runIds.length} />}
    </Order>
  );
}

/** Without a figure while the first batch is under way. */
function Progress({ done, all }: { readonly done: number; readonly all: number }) {
  const text = words.progress(done, all);
  return (
    <p role="status">
      <progress aria-label={text} max={all} {...(done === 0 ? {} : { value: done })} /> {text}
    </p>
  );
}

type Ask = (ids: readonly string[]) => Promise<RunBatch>;

async function each(runIds: readonly string[], onDone: (n: number) => void, ask: Ask): Promise<RunBatch[]> {
  const replies: RunBatch[] = [];
  onDone(0);
  for (const ids of batchesOf(runIds)) {
    replies.push(await ask(ids));
    onDone(replies.reduce((sum, { done, failed }) => sum + done.length + failed.length, 0));
  }
  return replies;
}

/** @throws Error that says for which runs it was not carried out, so that the dialog stays open with it */
function said(replies: readonly RunBatch[]): string {
  const done = replies.reduce((sum, reply) => sum + reply.done.length, 0);
  const failed = replies.flatMap((reply) => reply.failed);
  if (failed.length === 0) return words.done(done);
  askAgain();
  const lines = failed.map(({ runId, detail }) => `${runId}: ${detail}`);
  throw new Error([words.partly(done, failed.length), ...lines].join(' '));
}
