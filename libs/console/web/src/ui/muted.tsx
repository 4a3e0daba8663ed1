import { questions } from '../data/questions.js';
import { useResource } from '../data/resource.js';
import type { CronSummary, Mute } from '../data/types.js';
import { WORDS } from '../words.js';
import { Instant } from './instant.js';

const { mute: words } = WORDS;
const EVERY_MS = 10_000;

type Muted = Pick<CronSummary, 'name' | 'tags' | 'timeZone'>;

interface MutedProps {
  readonly cron: Muted;
}

/** The mutes in force, the one that ends first at the front. */
export const useMutes = () => useResource(questions.mutes(), { everyMs: EVERY_MS });

/** The one that the cron is under, by its name or a tag, that ends last. */
function muteOf(mutes: readonly Mute[], { name, tags }: Muted): Mute | undefined {
  return mutes.findLast(({ cron, tag }) => cron === name || (tag !== null && tags.includes(tag)));
}

/** Below the state of a cron in a list: that its alarms reach nobody, until when. */
export function MutedMark({ cron, mutes }: MutedProps & { readonly mutes: readonly Mute[] }) {
  const mute = muteOf(mutes, cron);
  if (!mute) return null;
  return (
    <small class="quiet under" title={words.by(mute)}>
      {words.mutedUntil} <Instant at={mute.until} zone={cron.timeZone} />
    </small>
  );
}

/** On top of a page about a cron. */
export function MutedNotice({ cron }: MutedProps) {
  const { data, error } = useMutes();
  if (data === null) return error === null ? null : <p class="quiet">{words.unknown}</p>;
  const mute = muteOf(data.items, cron);
  if (!mute) return null;
  return (
    <p class="notice">
      <strong>{words.muted}</strong> {words.until} <Instant at={mute.until} zone={cron.timeZone} relative />{' '}
      {words.by(mute)}
    </p>
  );
}
