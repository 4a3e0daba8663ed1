import type { CronDetail } from '../../data/types.js';
import { jsonOf } from '../../ui/json-text.js';

/** What the form has, as texts. */
export interface DefinitionForm {
  readonly name: string;
  /** A cron expression, or `every 30s`. */
  readonly schedule: string;
  readonly timeZone: string;
  readonly payload: string;
  readonly handler: string;
  readonly overlap: string;
  readonly misfire: string;
  readonly grace: string;
  /** With commas in between. */
  readonly tags: string;
  readonly description: string;
  readonly owner: string;
  readonly runbookUrl: string;
  readonly disabled: boolean;
}

const SAID_NOTHING = { description: '', owner: '', runbookUrl: '' };

const EVERY = /^@?every\s+/;

/** The form as it is opened, for a new cron where there is none. */
export function formOf(cron: CronDetail | null): DefinitionForm {
  if (cron === null) {
    const usual = { overlap: 'skip', misfire: 'fire-once', grace: '60s', tags: '', disabled: false, ...SAID_NOTHING };
    return { name: '', schedule: '', timeZone: 'UTC', payload: '', handler: '', ...usual };
  }
  const { name, expression: schedule, timeZone, payload, handler, overlap, misfire, graceMs, tags, state } = cron;
  return {
    ...{ name, schedule: schedule.replace(EVERY, 'every '), timeZone, handler: handler ?? '', overlap, misfire },
    payload: payload === null || payload === undefined ? '' : JSON.stringify(payload, null, 2),
    grace: graceMs % 1_000 === 0 ? `${graceMs / 1_000}s` : `${graceMs}ms`,
    tags: tags.join(', '),
    ...{ description: cron.description ?? '', owner: cron.owner ?? '', runbookUrl: cron.runbookUrl ?? '' },
    disabled: state === 'disabled',
  };
}

/**
 * The options that the form says; `null` stands for the default.
 * @throws Error for a payload that is no JSON
 */
export function settingsOf(form: DefinitionForm): Readonly<Record<string, unknown>> {
  const { schedule, timeZone, payload, handler, overlap, misfire, grace, tags, disabled } = form;
  const text = schedule.trim();
  const when = EVERY.test(text) ? { every: text.replace(EVERY, '') } : { expression: text, timeZone: timeZone.trim() };
  const others = { overlap, misfire, disabled, grace: textOf(grace), ...withoutCompanions(form) };
  return {
    ...when,
    ...others,
    tags: tags.split(/[\s,]+/).filter((tag) => tag !== ''),
    payload: jsonOf(payload) ?? null,
    handler: textOf(handler),
    description: textOf(form.description),
    owner: textOf(form.owner),
    runbookUrl: textOf(form.runbookUrl),
  };
}

/** Hidden options that are invalid beside these policies: a kept value would make the change invalid. */
function withoutCompanions({ overlap, misfire }: DefinitionForm): Readonly<Record<string, null>> {
  return {
    ...(misfire !== 'fire-all' && { maxCatchUp: null }),
    ...(misfire === 'skip' && { catchUpWindow: null }),
    ...(overlap !== 'replace' && { cancelGrace: null }),
    ...(overlap === 'allow' && { maxConcurrency: null }),
  };
}

function textOf(field: string): string | null {
  return field.trim() === '' ? null : field.trim();
}
