import { Link } from 'wouter-preact';
import { BASE, HAS_BOARD } from '../data/base.js';
import { liveState, type LiveState } from '../data/live.js';
import { session, signOut } from '../data/session.js';
import { useSignalEffect } from '@preact/signals';
import { useState } from 'preact/hooks';
import { chooseZone, zoneChoice, ZONE_OPTIONS } from '../time/zones.js';
import { WORDS } from '../words.js';
import { announce } from './announcer.js';
import { Choice } from './fields.js';
import { chooseTheme, theme } from './theme.js';

const PAGES: readonly (readonly [href: string, name: string])[] = [
  ['/', 'Crons'],
  ['/attention', 'Needs action'],
  ['/runs', 'Runs'],
  ['/leases', 'Leases'],
  ['/upcoming', 'Upcoming'],
  ['/notifications', 'Notifications'],
  ['/audit', 'Audit'],
  ['/doctor', 'Doctor'],
];

const THEMES = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;

export function Masthead() {
  return (
    <header class="masthead">
      <div class="bar">
        <span class="brand">Fencepost</span>
        <Live />
        <div class="switches">
          <Choice label={WORDS.time.label} value={zoneChoice.value} options={ZONE_OPTIONS} onChange={chooseZone} />
          <Choice label="Look" value={theme.value} options={THEMES} onChange={chooseTheme} />
        </div>
        <Who />
      </div>
      {session.value.state === 'in' ? <Navigation /> : null}
    </header>
  );
}

function Navigation() {
  return (
    <nav aria-label="Pages">
      <ul>
        {PAGES.map(([href, name]) => (
          <li key={href}>
            <PageLink href={href} name={name} />
          </li>
        ))}
        {HAS_BOARD ? (
          <li>
            <a href={`${BASE}/queues/`}>Queues</a>
          </li>
        ) : null}
        <li>
          <a href={`${BASE}/docs`}>API</a>
        </li>
      </ul>
    </nav>
  );
}

function PageLink({ href, name }: { readonly href: string; readonly name: string }) {
  return (
    <Link href={href} className={(active) => (active ? 'here' : '')}>
      {name}
    </Link>
  );
}

const LIVE_TEXT: Readonly<Record<LiveState, string>> = {
  off: '',
  connecting: 'connecting',
  live: 'live',
  blind: 'store not responding',
  reconnecting: 'reconnecting',
};

/** Spoken only when it changes: what changes on a page each second would be noise. */
function Live() {
  const [state, setState] = useState<LiveState>('off');
  useSignalEffect(() => setState(liveState.value));
  return (
    <span class={`live ${state}`} role="status">
      {LIVE_TEXT[state]}
    </span>
  );
}

async function leave(): Promise<void> {
  try {
    await signOut();
  } catch (error) {
    announce(`You are still signed in. ${error instanceof Error ? error.message : String(error)}`);
  }
}

function Who() {
  const current = session.value;
  if (current.state !== 'in') return null;
  const { name, role, signedIn } = current.you;
  return (
    <span class="who">
      <span>
        {name} <small class="quiet">({role})</small>
      </span>
      {signedIn ? (
        <button type="button" class="plain" onClick={() => void leave()}>
          Sign out
        </button>
      ) : null}
    </span>
  );
}
