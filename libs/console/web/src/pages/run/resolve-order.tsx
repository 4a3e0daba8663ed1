import { useState } from 'preact/hooks';
import { runOrders } from '../../data/orders.js';
import { JsonField } from '../../ui/fields.js';
import { jsonOf } from '../../ui/json-text.js';
import { Order } from '../../ui/order.js';

export type AnswerName = 'done' | 'not-done' | 'give-up';

/** The question that is answered, as the person read it; the API refuses the answer if the run asks another one by now. */
export interface AskedQuestion {
  readonly attempt: number;
  readonly effect: string;
  readonly item: string | null;
  readonly since: string;
}

interface ResolveProps {
  readonly id: string;
  readonly asked: AskedQuestion;
  readonly answer: AnswerName;
  readonly onClose: () => void;
}

const TITLE: Readonly<Record<AnswerName, string>> = {
  done: 'It happened',
  'not-done': 'It did not happen',
  'give-up': 'Give the run up',
};

const TEXT: Readonly<Record<AnswerName, string>> = {
  done: 'The effect is recorded as done and not repeated. The run continues after it.',
  'not-done': 'The effect is executed again. Make sure that it did not happen and no longer can.',
  'give-up': 'The run ends as failed.',
};

export function ResolveOrder({ id, asked, answer, onClose }: ResolveProps) {
  const [result, setResult] = useState('');
  const execute = async (reason: string) => {
    const given = answer === 'done' ? jsonOf(result) : undefined;
    await runOrders.resolve(id, { answer, ...asked, reason, ...(given === undefined ? {} : { result: given }) });
    return answer === 'give-up' ? 'The run is given up.' : 'The answer is recorded; the run continues.';
  };
  return (
    <Order
      title={`${TITLE[answer]}: ${asked.effect}${asked.item === null ? '' : `, item ${asked.item}`}`}
      text={TEXT[answer]}
      verb={TITLE[answer]}
      danger={answer === 'give-up'}
      {...{ execute, onClose }}
    >
      {answer === 'done' ? (
        <JsonField label="Result" hint="JSON, optional" value={result} onChange={setResult} />
      ) : null}
    </Order>
  );
}
