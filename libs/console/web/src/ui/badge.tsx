import type { CronSummary, Level } from '../data/types.js';

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
  if (state === 'removed') return <Badge tone="bad" text="removed" title="No longer fires; its history is kept" />;
  if (state === 'disabled') return <Badge tone="calm" text="disabled" title="Disabled in its declaration" />;
  if (paused) return <Badge tone="warn" text="paused" title={`By ${paused.by}: ${paused.reason}`} />;
  if (manual) return <Badge tone="calm" text="on request" title="Runs only on request" />;
  return <Badge tone="good" text="active" />;
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
