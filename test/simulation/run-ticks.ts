import { setImmediate } from 'node:timers';

/** So many turns are asked for at once: the event loop goes round once for all of them, and settles promises after each. */
const AT_ONCE = 256;

/**
 * Takes step after step, each in a turn of the event loop of its own: every promise that a step has moved is settled before
 * the next one, however long the chain is. Ends when a step says `false`.
 * @throws what a step throws
 */
export function runTicks(step: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = 0;
    let over = false;
    const end = (tell: () => void) => {
      over = true;
      tell();
    };
    const turn = () => {
      left -= 1;
      if (over) return;
      try {
        if (!step()) end(resolve);
      } catch (error) {
        end(() => reject(error));
      }
      if (left === 0 && !over) ask();
    };
    const ask = () => {
      left = AT_ONCE;
      for (let n = 0; n < AT_ONCE; n += 1) setImmediate(turn);
    };
    ask();
  });
}
