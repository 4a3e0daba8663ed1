import { useState } from 'preact/hooks';
import { may } from '../../data/session.js';
import type { RunReport } from '../../data/types.js';
import { Facts } from '../../ui/facts.js';
import { Instant } from '../../ui/instant.js';
import { ResolveOrder, type AnswerName, type AskedQuestion } from './resolve-order.js';
import { WORDS } from '../../words.js';

const { answers: words } = WORDS.run;

interface AnswersProps {
  readonly report: RunReport;
  readonly reload: () => void;
  /** That of the cron, where the times around it are in it. */
  readonly zone?: string | undefined;
}

/** What an uncertain run asks, where to look, and the three answers. */
export function Answers({ report: { run, unresolvedEffect }, reload, zone }: AnswersProps) {
  if (!unresolvedEffect) return null;
  const { effect, item, since, idempotencyKey, why, advice } = unresolvedEffect;
  return (
    <div class="notice warn">
      <p>
        <strong>{why}</strong>
      </p>
      <p>{advice}</p>
      <Facts
        of={[
          [WORDS.heads.effect, item === null ? effect : words.item(effect, item)],
          [WORDS.run.effectBegun, <Instant at={since} zone={zone} relative />],
          [words.key, <code>{idempotencyKey}</code>],
        ]}
      />
      {may('operator') ? (
        <AnswerButtons id={run.id} asked={{ attempt: run.attempt, effect, item, since }} reload={reload} />
      ) : (
        <ForOperators />
      )}
    </div>
  );
}

function ForOperators() {
  return <p class="quiet">{words.forOperators}</p>;
}

interface ButtonsProps {
  readonly id: string;
  readonly asked: AskedQuestion;
  readonly reload: () => void;
}

const NAMES: readonly (readonly [answer: AnswerName, text: string])[] = [
  ['done', `${words.title.done} …`],
  ['not-done', `${words.title['not-done']} …`],
  ['give-up', `${words.title['give-up']} …`],
];

function AnswerButtons({ id, asked, reload }: ButtonsProps) {
  // The question is kept as it was read: while the dialog is open, the run may come to ask another one.
  const [given, setGiven] = useState<{ readonly answer: AnswerName; readonly asked: AskedQuestion } | null>(null);
  const close = () => {
    setGiven(null);
    reload();
  };
  return (
    <div class="buttons">
      {NAMES.map(([name, text]) => (
        <button
          key={name}
          type="button"
          class={name === 'give-up' ? 'danger' : ''}
          onClick={() => setGiven({ answer: name, asked })}
        >
          {text}
        </button>
      ))}
      {given === null ? null : <ResolveOrder {...{ id, ...given }} onClose={close} />}
    </div>
  );
}
