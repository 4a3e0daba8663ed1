import { useState } from 'preact/hooks';
import { runOrders } from '../../data/orders.js';
import { JsonField } from '../../ui/fields.js';
import { jsonOf } from '../../ui/json-text.js';
import { Order } from '../../ui/order.js';
import { WORDS } from '../../words.js';

const { answers: words } = WORDS.run;

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

export function ResolveOrder({ id, asked, answer, onClose }: ResolveProps) {
  const [result, setResult] = useState('');
  const execute = async (reason: string) => {
    const given = answer === 'done' ? jsonOf(result) : undefined;
    await runOrders.resolve(id, { answer, ...asked, reason, ...(given === undefined ? {} : { result: given }) });
    return answer === 'give-up' ? words.givenUp : words.recorded;
  };
  return (
    <Order
      title={`${words.title[answer]}: ${asked.item === null ? asked.effect : words.item(asked.effect, asked.item)}`}
      text={words.text[answer]}
      verb={words.title[answer]}
      danger={answer === 'give-up'}
      {...{ execute, onClose }}
    >
      {answer === 'done' ? (
        <JsonField label={WORDS.heads.result} hint={words.resultHint} value={result} onChange={setResult} />
      ) : null}
    </Order>
  );
}
