import { durationText, instantText, preciseText, relativeText, utcText, zoneName } from '../time/instants.js';
import { now } from '../time/now.js';
import { shownZone, zoneText } from '../time/zones.js';
import { WORDS } from '../words.js';
import { None } from './table.js';

interface InstantProps {
  readonly at: string | null;
  /** The zone of the cron it belongs to; without one it is shown in the reader's. */
  readonly zone?: string | undefined;
  /** Also how far away it is. */
  readonly relative?: boolean;
  /** With milliseconds. */
  readonly precise?: boolean;
}

export function Instant({ at, zone, relative, precise }: InstantProps) {
  if (at === null) return <None />;
  const shown = shownZone(zone);
  const text = precise ? preciseText(at, shown) : instantText(at, shown);
  const title = [`${text} ${shown}`, utcText(at), relativeText(at, now.peek())].join(' = ');
  return (
    <span class="instant">
      <time dateTime={at} title={title}>
        {text} <small class="quiet zone">{zoneName(at, shown)}</small>
      </time>
      {relative ? <Away at={at} /> : null}
    </span>
  );
}

/** For how long something has been so. */
export function Since({ at }: { readonly at: string }) {
  const title = `${instantText(at, shownZone())} ${shownZone()} = ${utcText(at)}`;
  return (
    <time dateTime={at} title={title}>
      {WORDS.time.lasting(durationText(Math.max(0, now.value - Date.parse(at))))}
    </time>
  );
}

/** A component of its own, so that a second costs one text and not a page. */
function Away({ at }: { readonly at: string }) {
  return <small class="quiet"> {relativeText(at, now.value)}</small>;
}

/** Which zone the instants around it are in. */
export function ZoneNote({ zone }: { readonly zone?: string | undefined }) {
  return <p class="quiet zone-note">{zoneText(zone)}</p>;
}

export function Duration({ ms }: { readonly ms: number | null }) {
  return ms === null ? <None /> : <span class="duration">{durationText(ms)}</span>;
}

interface LeftProps {
  /** What was left when it was asked, and when that was, by this machine. */
  readonly ms: number | null;
  readonly at: number;
}

/** Time left, counting down. Below zero it says so: the holder renews, and the next answer shows it. */
export function Left({ ms, at }: LeftProps) {
  if (ms === null) return <None />;
  void now.value;
  const left = ms - (Date.now() - at);
  if (left <= 0) return <span class="quiet">{WORDS.leases.renewing}</span>;
  return <span>{`${Math.ceil(left / 1_000)} ${WORDS.time.units.s}`}</span>;
}
