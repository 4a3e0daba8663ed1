import type { CronSummary, Level } from '../data/types.js';
import { WORDS } from '../words.js';

const { states: words } = WORDS.cron;

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

export function StateBadge({ cron: { state, paused, manual } }: { readonly cron: CronSummary }) {
  if (state === 'removed') return <Badge tone="bad" {...words.removed} />;
  if (state === 'disabled') return <Badge tone="calm" {...words.disabled} />;
  if (paused) return <Badge tone="warn" {...words.paused} title={WORDS.home.pausedBy(paused.by, paused.reason)} />;
  if (manual) return <Badge tone="calm" {...words.manual} />;
  return <Badge tone="good" {...words.active} />;
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
