const WEB = 'apps/scheduler/web/src/';
const THROTTLE = { file: `${WEB}data/throttle.ts`, killedBy: `${WEB}data/throttle.spec.ts` };
const INSTANTS = { file: `${WEB}time/instants.ts`, killedBy: `${WEB}time/instants.spec.ts` };
const SPANS = { file: `${WEB}pages/cron/spans.ts`, killedBy: `${WEB}pages/cron/spans.spec.ts` };

/**
 * What keeps the page from harming the server it watches, and from showing a wrong time.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const WEB_MUTANTS = [
  {
    ...THROTTLE,
    name: 'page: each event is a question',
    defence: 'a page asks the server at most once in a while, however much happens',
    find: 'timer ??= setTimeout(fire, Math.max(BURST_MS, last + ms - performance.now()));',
    replace: 'timer ??= setTimeout(fire, BURST_MS);',
    test: 'events without end',
  },
  {
    ...THROTTLE,
    name: 'page: a burst is as many questions as events',
    defence: 'a burst of events is one question',
    find: 'timer ??= setTimeout',
    replace: 'timer = setTimeout',
    test: 'a burst of events',
  },
  {
    ...THROTTLE,
    name: 'page: a page that was left goes on asking',
    defence: 'what waits to be asked is forgotten with its page',
    find: 'cancel: () => clearTimeout(timer),',
    replace: 'cancel: () => {},',
    test: 'nothing is asked',
  },
  {
    ...INSTANTS,
    name: 'page: an unknown zone breaks the page',
    defence: 'a browser whose zones are older than a cron still shows it',
    find: "return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC', hourCycle: 'h23' });",
    replace: 'throw new RangeError(zone);',
    test: 'does not know',
  },
  {
    ...INSTANTS,
    name: 'page: instants are shown by the clock of the reader',
    defence: 'an instant is shown in the zone of its cron',
    find: '{ ...options, timeZone: zone, ',
    replace: '{ ...options, ',
    test: 'by the clocks of its zone',
  },
  {
    ...SPANS,
    name: 'page: a timeline ends a step ago',
    defence: 'the range that is asked for has this moment in it, for as long as it is asked for',
    find: 'const end = (step + 1) * stepMs(ms);',
    replace: 'const end = (step - 20) * stepMs(ms);',
    test: 'has this moment in it',
  },
];
