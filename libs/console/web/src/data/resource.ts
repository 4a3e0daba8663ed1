import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { listenLive } from './live.js';
import { throttle } from './throttle.js';
import type { Query } from './questions.js';
import type { JournalEntry } from './types.js';

export interface Resource<Data> {
  /** The latest answer to this question; stays while it is asked for again, and while nobody answers. */
  readonly data: Data | null;
  readonly error: unknown;
  /** When `data` came, epoch milliseconds of this machine. */
  readonly at: number;
  /** The latest question has had no answer for longer than answers take. */
  readonly isSlow: boolean;
  readonly reload: () => void;
}

export interface Freshness {
  /** Which events make it worth asking again; without it none does. */
  readonly concerns?: (entry: JournalEntry) => boolean;
  /** Also by the clock, for what changes without an event. */
  readonly everyMs?: number;
  /** Whether the answer to the last question stays while the next one is asked: another page of the same list. */
  readonly keeps?: boolean;
}

interface Answer<Data> {
  readonly key: string | null;
  readonly data: Data | null;
  readonly error: unknown;
  readonly at: number;
}

/** However many events come, the same is not asked more often: many pages may stand open before one server. */
const THROTTLE_MS = 3_000;
const AGAIN_AFTER_ERROR_MS = 5_000;
const SLOW_MS = 2_000;
/** Whoever has not answered by then is asked anew. */
const GIVEN_UP_MS = 20_000;

/** What the API answers, kept up to date while it is shown; `null`: nothing is asked. */
export function useResource<Data>(question: Query<Data> | null, freshness: Freshness = {}): Resource<Data> {
  const key = question?.key ?? null;
  const { answer, isSlow, reload, refresh } = useAnswer(question, freshness.keeps === true);
  useFreshness(refresh, { ...freshness, ...(answer.error === null ? {} : { everyMs: AGAIN_AFTER_ERROR_MS }) });
  const current = answer.key === key || freshness.keeps ? answer : NOTHING;
  return { data: current.data, error: current.error, at: current.at, isSlow, reload };
}

/** Asks one question at a time: an answer that takes longer than the time between two looks would never come. */
function useAnswer<Data>(question: Query<Data> | null, keeps: boolean) {
  const key = question?.key ?? null;
  const [answer, setAnswer] = useState<Answer<Data>>({ key, data: null, error: null, at: 0 });
  const [isSlow, setSlow] = useState(false);
  const [round, setRound] = useState(0);
  const waiting = useRef<'no' | 'yes' | 'again'>('no');
  const reload = useCallback(() => setRound((n) => n + 1), []);
  const refresh = useCallback(() => {
    if (waiting.current === 'no') reload();
    else waiting.current = 'again';
  }, [reload]);
  useEffect(() => {
    if (question === null) return;
    const slow = setTimeout(() => setSlow(true), SLOW_MS);
    waiting.current = 'yes';
    const abort = ask(question, (told) => {
      const isOld = waiting.current === 'again';
      ended();
      setAnswer((old) => ('data' in told ? told : { ...(old.key === key || keeps ? old : NOTHING), ...told }));
      if (isOld) reload();
    });
    const ended = () => {
      clearTimeout(slow);
      setSlow(false);
      waiting.current = 'no';
    };
    return () => {
      ended();
      abort();
    };
  }, [key, round]);
  return { answer, isSlow, reload, refresh };
}

type Told<Data> = Answer<Data> | Pick<Answer<Data>, 'key' | 'error'>;

/** @returns what withdraws the question: nothing is told then */
function ask<Data>({ key, ask: send }: Query<Data>, tell: (told: Told<Data>) => void): () => void {
  const aborter = new AbortController();
  const unlessWithdrawn = (told: Told<Data>) => aborter.signal.aborted || tell(told);
  send(AbortSignal.any([aborter.signal, AbortSignal.timeout(GIVEN_UP_MS)])).then(
    (data) => unlessWithdrawn({ key, data, error: null, at: Date.now() }),
    (error: unknown) => unlessWithdrawn({ key, error }),
  );
  return () => aborter.abort();
}

const NOTHING = { data: null, error: null, at: 0 };

function useFreshness(reload: () => void, { concerns, everyMs }: Freshness): void {
  const wanted = useRef(concerns);
  wanted.current = concerns;
  useEffect(() => {
    const throttled = throttle(reload, THROTTLE_MS);
    const stop = listenLive((entry) => {
      if (entry === null || wanted.current?.(entry)) throttled.call();
    });
    return () => {
      stop();
      throttled.cancel();
    };
  }, [reload]);
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), everyMs);
    return () => clearInterval(timer);
  }, [reload, everyMs]);
}
