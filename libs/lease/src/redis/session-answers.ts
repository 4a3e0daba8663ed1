import type { RedisLeaseSessions } from './redis-lease-sessions.js';

/** Asks for some of the requests, naming sessions that are known to be over. */
type Ask<R> = (requests: readonly R[], over: readonly string[]) => Promise<string[]>;

const HELD = 'HELD ';

/**
 * Answers to requests for leases, of which none is `HELD <session>` any more: each such session was looked at, and what a
 * session that is over held was asked for once more. A term that changed hands meanwhile names another session then.
 */
export async function settleHeld<R>(
  requests: readonly R[],
  sessions: Pick<RedisLeaseSessions, 'lookAtEach' | 'lately'>,
  ask: Ask<R>,
): Promise<string[]> {
  const answers = await ask(requests, sessions.lately());
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
      over,
    );
    free.forEach((place, n) => (answers[place] = again[n] ?? ''));
  }
  return answers;
}

function placesHeld(answers: readonly string[]): number[] {
  return [...answers.keys()].filter((place) => answers[place]?.startsWith(HELD));
}

function sessionIn(answer = ''): string {
  return answer.slice(HELD.length);
}
