import { shellOfPage } from '../page/page-files.js';

const PLAIN =
  '<!doctype html><html lang="en"><title>Sign in · Fencepost</title>' +
  '<p>Expected a session. <a href="/crons/">Sign in</a>, and come back.</p></html>';

/** For a browser that has no session: our page, which asks for a token and shows nothing else; or a link to it. */
export function signInPage(): string {
  return shellOfPage() ?? PLAIN;
}
