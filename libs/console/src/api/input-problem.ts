import { Refusal } from '../auth/refusals.js';

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

const MAX_WORD_LENGTH = 60;

/** What was wrong with what came, the first of it: one sentence that names the place. */
export function inputProblem(issues: readonly Issue[]): Refusal {
  const [{ message, path = [] } = { message: 'expected something else' }] = issues;
  const place = path.map((step) => shown(typeof step === 'object' ? step.key : step)).join('.');
  const said = /^expected /i.test(message) ? message.replace(/^e/, 'E') : message;
  return new Refusal(400, 'BAD_REQUEST', `${place === '' ? '' : `${place}: `}${said}.`.replace('..', '.'));
}

/** It may be a key that somebody has made up. */
function shown(step: PropertyKey): string {
  return JSON.stringify(String(step).slice(0, MAX_WORD_LENGTH)).slice(1, -1);
}
