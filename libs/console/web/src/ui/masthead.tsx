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

const { frame: words } = WORDS;

export function Masthead() {
  return (
    <header class="masthead">
      <div class="bar">
        <span class="brand">{words.product}</span>
        <Live />
        <div class="switches">
          <Choice label={WORDS.time.label} value={zoneChoice.value} options={ZONE_OPTIONS} onChange={chooseZone} />
          <Choice label={words.look} value={theme.value} options={words.looks} onChange={chooseTheme} />
        </div>
        <Who />
      </div>
      {session.value.state === 'in' ? <Navigation /> : null}
    </header>
  );
}

function Navigation() {
  return (
    <nav aria-label={words.navigation}>
      <ul>
        {words.pages.map(([href, name]) => (
          <li key={href}>
            <PageLink href={href} name={name} />
          </li>
        ))}
        {HAS_BOARD ? (
          <li>
            <a href={`${BASE}/queues/`}>{words.queues}</a>
          </li>
        ) : null}
        <li>
          <a href={`${BASE}/docs`}>{words.api}</a>
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

/** Spoken only when it changes: what changes on a page each second would be noise. */
function Live() {
  const [state, setState] = useState<LiveState>('off');
  useSignalEffect(() => setState(liveState.value));
  return (
    <span class={`live ${state}`} role="status">
      {words.live[state]}
    </span>
  );
}

async function leave(): Promise<void> {
  try {
    await signOut();
  } catch (error) {
    announce(words.stillIn(error instanceof Error ? error.message : String(error)));
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
          {words.signOut}
        </button>
      ) : null}
    </span>
  );
}
