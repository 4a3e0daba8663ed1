import { signal } from '@preact/signals';
import { answered, ApiError, client, onUnauthorised } from './client.js';
import { connect, disconnect } from './live.js';
import type { Role, You } from './types.js';

type Session =
  | { readonly state: 'asking' | 'out' }
  | { readonly state: 'away'; readonly error: unknown }
  | { readonly state: 'in'; readonly you: You };

const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 };

export const session = signal<Session>({ state: 'asking' });

/** Asks who we are, and again whenever the API says that it does not know us. */
export function followSession(): void {
  onUnauthorised(leave);
  void whoAmI();
}

export async function whoAmI(): Promise<void> {
  try {
    const you = await answered(client.GET('/api/me'));
    session.value = { state: 'in', you };
    connect();
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) leave();
    else session.value = { state: 'away', error };
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
  leave();
}

/** Whether this page shows what only that role may do; the server decides by itself. */
export function may(role: Role): boolean {
  const current = session.value;
  return current.state === 'in' && RANK[current.you.role] >= RANK[role];
}

function leave(): void {
  disconnect();
  session.value = { state: 'out' };
}
