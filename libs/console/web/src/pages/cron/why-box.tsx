import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import { cronQuestions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { CronDetail, WhyReport } from '../../data/types.js';
import { instantText } from '../../time/instants.js';
import { shownZone } from '../../time/zones.js';
import { LevelBadge } from '../../ui/badge.js';
import { Instant } from '../../ui/instant.js';
import { InstantQuestion } from '../../ui/instant-question.js';
import { Section } from '../../ui/page.js';
import { Shown } from '../../ui/states.js';
import { WORDS } from '../../words.js';

const { why: words } = WORDS.cron;

interface WhyProps {
  readonly cron: CronDetail;
  readonly asked: string | null;
  readonly ask: (instant: string) => void;
}

/** The one question that every scheduler is asked: why did it run then, or why did it not? */
export function WhyBox({ cron, asked, ask }: WhyProps) {
  const question = asked === null ? null : cronQuestions.why(cron.name, asked);
  const report = useResource(question, { concerns: (entry) => entry.cron === cron.name });
  return (
    <Section title={words.title}>
      <InstantQuestion label={words.instant} verb={words.why} at={asked} onAsk={ask}>
        <button type="button" onClick={() => ask('last')}>
          {words.last}
        </button>
      </InstantQuestion>
      <div aria-live="polite">
        {question === null ? (
          <p class="quiet">{words.ask}</p>
        ) : (
          <Shown of={report} what={words.what}>
            {(data) => <Answer report={data} {...{ cron, ask }} />}
          </Shown>
        )}
      </div>
    </Section>
  );
}

interface AnswerProps extends Pick<WhyProps, 'cron' | 'ask'> {
  readonly report: WhyReport;
}

function Answer({ report: { at, verdict, answer, steps, run, neighbours }, cron, ask }: AnswerProps) {
  const zone = shownZone(cron.timeZone);
  return (
    <>
      <p class="answer">
        <strong>{instantText(at, zone)}</strong> <span class="quiet">({verdict})</span>
        <br />
        {answer} {run ? <Link href={to.run(run.run.id)}>{WORDS.cron.openRun}</Link> : null}
      </p>
      <ol class="steps">
        {steps.map(({ topic, at: when, level, text }, index) => (
          <li key={index}>
            <span class="steps-topic">{topic}</span> <LevelBadge level={level} />
            <span class="steps-text">
              {text}{' '}
              {when === null ? null : (
                <small class="quiet">
                  (<Instant at={when} zone={cron.timeZone} />)
                </small>
              )}
            </span>
          </li>
        ))}
      </ol>
      <p class="buttons">
        <Neighbour at={neighbours.before} name={words.before} ask={ask} />
        <Neighbour at={neighbours.after} name={words.after} ask={ask} />
      </p>
    </>
  );
}

interface NeighbourProps {
  readonly at: string | null;
  readonly name: string;
  readonly ask: (instant: string) => void;
}

function Neighbour({ at, name, ask }: NeighbourProps) {
  return (
    <button type="button" disabled={at === null} onClick={() => at !== null && ask(at)}>
      {name}
    </button>
  );
}
