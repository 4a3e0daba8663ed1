import { signal } from '@preact/signals';
import { answered, ApiError, client, onUnauthorised } from './client.js';
import { connect, disconnect } from './live.js';
import type { Role, You } from './types.js';

type Session =
  | { readonly state: 'asking' }
  /** `endedAt`: since when the API no longer knows who was signed in here; `null`: nobody was, or they signed out. */
  | { readonly state: 'out'; readonly endedAt: number | null }
  | { readonly state: 'away'; readonly error: unknown }
  | { readonly state: 'in'; readonly you: You };

const AGAIN_MS = 5_000;

const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 };

export const session = signal<Session>({ state: 'asking' });

/** Asks who we are, and again whenever the API says that it does not know us. */
export function followSession(): void {
  onUnauthorised(ended);
  void whoAmI();
}

export async function whoAmI(): Promise<void> {
  try {
    const you = await answered(client.GET('/api/me'));
    session.value = { state: 'in', you };
    connect(checkSession);
  } catch (error) {
    // `answered` has told that nobody is known.
    if (error instanceof ApiError && error.status === 401) return;
    session.value = { state: 'away', error };
    setTimeout(() => void whoAmI(), AGAIN_MS);
  }
}

/** @throws ApiError when the token is not known, or nobody answers */
export async function signIn(token: string): Promise<void> {
  await answered(client.POST('/session', { body: { token } }));
  await whoAmI();
}

/** @throws ApiError when nobody answers: the session is still there then, and the page says so */
export async function signOut(): Promise<void> {
  await answered(client.DELETE('/session'));
  leave(null);
}

/** Whether this page shows what only that role may do; the server decides by itself. */
export function may(role: Role): boolean {
  const current = session.value;
  return current.state === 'in' && RANK[current.you.role] >= RANK[role];
}

/** What is shown stays, unless the API does not know who asks. */
function checkSession(): void {
  answered(client.GET('/api/me')).catch(() => {});
}

function ended(): void {
  if (session.value.state === 'out') return;
  leave(session.value.state === 'in' ? Date.now() : null);
}

function leave(endedAt: number | null): void {
  disconnect();
  session.value = { state: 'out', endedAt };
}
