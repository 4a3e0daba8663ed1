import type { RedisLeaseSessions } from './redis-lease-sessions.js';

/** Asks for some of the requests, naming sessions that are known to be over, with blanks between them. */
type Ask<R> = (requests: readonly R[], over: string) => Promise<string[]>;

interface Asked<R> {
  readonly requests: readonly R[];
  readonly sessions: Pick<RedisLeaseSessions, 'lookAtEach'>;
  /** Asks for some of the requests again. */
  readonly ask: Ask<R>;
}

const HELD = 'HELD ';

/** Whether the answer names a session that is to be looked at. */
export function isHeld(answer: string | undefined): boolean {
  return answer !== undefined && answer.startsWith(HELD);
}

/**
 * Answers to requests for leases, of which none is `HELD <session>` any more: each such session was looked at, and what a
 * session that is over held was asked for once more. A term that changed hands meanwhile names another session then.
 */
export async function settleHeld<R>(answers: string[], { requests, sessions, ask }: Asked<R>): Promise<string[]> {
  for (let held = placesHeld(answers); held.length > 0; held = placesHeld(answers)) {
    const found = await sessions.lookAtEach(held.map((place) => sessionIn(answers[place])));
    const free = held.filter((place) => !found.get(sessionIn(answers[place])));
    for (const place of held) {
      const live = found.get(sessionIn(answers[place]));
      if (live) answers[place] = `BUSY ${live.remainingMs}`;
    }
    if (free.length === 0) break;
    const over = [...found].flatMap(([session, live]) => (live ? [] : [session]));
    const again = await ask(
      free.map((place) => requests[place] as R),
      over.join(' '),
    );
    free.forEach((place, n) => (answers[place] = again[n] ?? ''));
  }
  return answers;
}

function placesHeld(answers: readonly string[]): number[] {
  return [...answers.keys()].filter((place) => isHeld(answers[place]));
}

function sessionIn(answer = ''): string {
  return answer.slice(HELD.length);
}
