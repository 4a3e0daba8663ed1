import type { CronSummary, Level } from '../data/types.js';
import { WORDS } from '../words.js';

export type Tone = 'good' | 'info' | 'warn' | 'bad' | 'calm';

interface BadgeProps {
  readonly tone: Tone;
  readonly text: string;
  readonly title?: string | undefined;
}

/** The sign says with its shape what the colour says as well. */
const SIGN: Readonly<Record<Tone, string>> = { good: '●', info: '▶', warn: '▲', bad: '✖', calm: '○' };

export function Badge({ tone, text, title }: BadgeProps) {
  return (
    <span class={`badge ${tone}`} title={title}>
      <span aria-hidden="true">{SIGN[tone]}</span> {text}
    </span>
  );
}

type Health = CronSummary['health'];

const HEALTH_TONE: Readonly<Record<Health['state'], Tone>> = {
  uncertain: 'warn',
  standstill: 'bad',
  failing: 'bad',
  missed: 'bad',
  late: 'warn',
  'no-worker': 'bad',
  'never-succeeded': 'warn',
  unknown: 'calm',
  paused: 'calm',
  disabled: 'calm',
  removed: 'calm',
  healthy: 'good',
};

/** How a cron does, in the same words wherever it is shown. */
export function HealthBadge({ cron: { health, paused, last } }: { readonly cron: CronSummary }) {
  const title = paused ? WORDS.home.pausedBy(paused.by, paused.reason) : (last?.error ?? undefined);
  return <Badge tone={toneOf(health)} text={health.text} title={title} />;
}

export function toneOf({ state }: Health): Tone {
  return HEALTH_TONE[state];
}

const RUN_TONE: Readonly<Record<string, Tone>> = {
  succeeded: 'good',
  running: 'info',
  claimed: 'calm',
  enqueued: 'calm',
  orphaned: 'warn',
  uncertain: 'warn',
  failed: 'bad',
  cancelled: 'calm',
  skipped: 'calm',
};

export function RunBadge({ state, title }: { readonly state: string; readonly title?: string | undefined }) {
  return <Badge tone={RUN_TONE[state] ?? 'calm'} text={state} title={title} />;
}

const LEVEL_TONE: Readonly<Record<Level, Tone>> = { ok: 'good', note: 'calm', warn: 'warn', bad: 'bad' };

export function LevelBadge({ level }: { readonly level: Level }) {
  return <Badge tone={LEVEL_TONE[level]} text={level} />;
}
