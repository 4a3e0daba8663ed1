import { useEffect, useState } from 'preact/hooks';
import { cronOrders } from '../../data/orders.js';
import type { CronChange, CronDetail } from '../../data/types.js';
import { Check, Choice, JsonField, TextField } from '../../ui/fields.js';
import { Instant } from '../../ui/instant.js';
import { Order } from '../../ui/order.js';
import { WORDS } from '../../words.js';
import { formOf, settingsOf, type DefinitionForm } from './definition-form.js';

const { form: words, facts } = WORDS.cron;

interface OrderProps {
  /** `null`: a new one. */
  readonly cron: CronDetail | null;
  readonly onClose: () => void;
}

const OVERLAPS = (['skip', 'queue-one', 'queue-all', 'replace', 'allow'] as const).map((one) => [one, one] as const);
const MISFIRES = (['skip', 'fire-once', 'fire-all'] as const).map((one) => [one, one] as const);

/** Makes or changes a cron; what would change is shown while it is written. */
export function DefinitionOrder({ cron, onClose }: OrderProps) {
  const [form, setForm] = useState(() => formOf(cron));
  const set = (change: Partial<DefinitionForm>) => setForm({ ...form, ...change });
  const body = { expected: cron?.generation ?? null };
  const execute = async (reason: string) => {
    const given = { ...body, settings: settingsOf(form), reason, dryRun: false };
    const { generation } = await cronOrders.set(form.name.trim(), given);
    return words.saved(form.name, generation);
  };
  return (
    <Order
      title={cron === null ? words.newTitle : words.editTitle(cron.name)}
      text={<Text cron={cron} />}
      verb={cron === null ? words.create : words.save}
      {...{ execute, onClose }}
    >
      <Fields {...{ cron, form, set }} />
      <Preview form={form} ask={() => cronOrders.set(form.name.trim(), { ...body, ...dryRunOf(form) })} />
    </Order>
  );
}

function dryRunOf(form: DefinitionForm) {
  return { settings: settingsOf(form), reason: 'preview', dryRun: true };
}

function Text({ cron }: Pick<OrderProps, 'cron'>) {
  if (cron === null) return <p>{words.newText}</p>;
  return (
    <p>
      {words.editText} {cron.app === null ? '' : words.declared(cron.app)}
    </p>
  );
}

interface FieldsProps {
  readonly cron: CronDetail | null;
  readonly form: DefinitionForm;
  readonly set: (change: Partial<DefinitionForm>) => void;
}

function Fields({ cron, form, set }: FieldsProps) {
  const text = (key: Exclude<keyof DefinitionForm, 'disabled'>, label: string, hint?: string) => (
    <TextField {...{ label, hint }} value={form[key]} onChange={(value) => set({ [key]: value })} />
  );
  return (
    <>
      {cron === null ? text('name', WORDS.heads.name) : null}
      {text('schedule', WORDS.heads.schedule, words.scheduleHint)}
      {text('timeZone', words.zone)}
      <JsonField
        label={WORDS.heads.payload}
        hint={words.payloadHint}
        value={form.payload}
        onChange={(payload) => set({ payload })}
      />
      {text('handler', words.handler, words.handlerHint)}
      {text('grace', words.grace, words.graceHint)}
      {text('tags', facts.tags, words.tagsHint)}
      {text('description', facts.description, words.descriptionHint)}
      {text('owner', facts.owner, words.ownerHint)}
      {text('runbookUrl', facts.runbook, words.runbookHint)}
      <p class="buttons">
        <Choice
          label={words.overlap}
          value={form.overlap}
          options={OVERLAPS}
          onChange={(overlap) => set({ overlap })}
        />
        <Choice
          label={words.misfire}
          value={form.misfire}
          options={MISFIRES}
          onChange={(misfire) => set({ misfire })}
        />
      </p>
      <Check label={words.disabled} checked={form.disabled} onChange={(disabled) => set({ disabled })} />
    </>
  );
}

/** Somebody who writes does not pause between letters for so long. */
const PAUSE_MS = 400;

interface PreviewProps {
  readonly form: DefinitionForm;
  readonly ask: () => Promise<CronChange>;
}

/** Asked again when nothing was written for a moment; an answer to what is no longer there is left out. */
function Preview({ form, ask }: PreviewProps) {
  const [said, setSaid] = useState<CronChange | string>(words.checking);
  const isComplete = form.name.trim() !== '' && form.schedule.trim() !== '';
  useEffect(() => {
    let isOld = false;
    if (!isComplete) return setSaid(words.incomplete);
    const look = async () => {
      const answer = await Promise.resolve().then(ask).catch(textOf);
      if (!isOld) setSaid(answer);
    };
    const timer = setTimeout(() => void look(), PAUSE_MS);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [JSON.stringify(form)]);
  return (
    <div class="preview" role="status">
      {typeof said === 'string' ? <p class="quiet">{said}</p> : <Change of={said} zone={form.timeZone.trim()} />}
    </div>
  );
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function Change({
  of: { change, parts, gone, added, next },
  zone,
}: {
  readonly of: CronChange;
  readonly zone: string;
}) {
  const differs = words.differs(parts.join(', '));
  const restored = `${words.isRestored}${parts.length === 0 ? '' : ` ${differs}`}`;
  const what = { new: words.isNew, restored, same: words.same, changed: differs }[change];
  return (
    <>
      <p>
        {what} {gone.count === 0 ? '' : words.gone(gone.count)} {added.count === 0 ? '' : words.added(added.count)}
      </p>
      <h3>{words.next}</h3>
      {next.length === 0 ? <p class="quiet">{words.noNext}</p> : null}
      <ol class="plain-list next-instants">
        {next.map((at) => (
          <li key={at}>
            <Instant at={at} zone={zone} />
          </li>
        ))}
      </ol>
    </>
  );
}
