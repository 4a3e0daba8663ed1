import type { IncomingMessage } from 'node:http';

export const SESSION_COOKIE = 'fencepost_session';

/** How somebody shows who they are. What a browser sends by itself (`ambient`), another page can make it send. */
export interface Credential {
  readonly token: string;
  readonly ambient: boolean;
}

/** A header outweighs the cookie: who sends one means it. */
export function credentialOf({ headers }: Pick<IncomingMessage, 'headers'>): Credential | null {
  const { authorization, cookie } = headers;
  if (authorization !== undefined) {
    const token = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization)?.[1];
    return token === undefined ? null : { token, ambient: false };
  }
  const token = cookieNamed(SESSION_COOKIE, cookie ?? '');
  return token === null ? null : { token, ambient: true };
}

function cookieNamed(name: string, header: string): string | null {
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim() || null;
  }
  return null;
}
