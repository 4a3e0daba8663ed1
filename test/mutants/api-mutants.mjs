const AUTH = 'apps/scheduler/src/auth/';
const ROUTES = 'test/security/every-route.spec.ts';
const BROWSER = 'test/security/browser.spec.ts';
const REFUSALS = 'test/security/refusals.spec.ts';
const BOARD = 'test/api/board.spec.ts';

/**
 * Who may come in, who may order what, and what is written down of it.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const API_MUTANTS = [
  {
    name: 'api: the door lets in whoever is not known',
    defence: 'no route answers without a token',
    file: `${AUTH}door.ts`,
    find: 'if (!identity) throw unknownCaller();',
    replace: 'if (!identity) return null;',
    killedBy: ROUTES,
    test: 'answers 401 without a token',
  },
  {
    name: 'api: the guard asks for no role',
    defence: 'a viewer changes nothing',
    file: `${AUTH}fencepost-guard.ts`,
    find: 'if (!mayAs(caller.role, needed)) throw notAllowed(caller.role, needed);',
    replace: '',
    killedBy: ROUTES,
    test: 'answers 403 to a viewer',
  },
  {
    name: 'api: the board asks for no role',
    defence: 'the board is for looking only, to a viewer',
    file: 'apps/scheduler/src/board/board-access.ts',
    find: 'return mayAs(role, needed) ? null :',
    replace: 'return true ? null :',
    killedBy: ROUTES,
    test: 'answers 403 to a viewer',
  },
  {
    name: 'api: a page of another origin may give orders',
    defence: 'a session can not be used by a page of somebody else',
    file: `${AUTH}door.ts`,
    find: 'if (ambient && isCrossOrigin(request)) throw otherOrigin();',
    replace: '',
    killedBy: BROWSER,
    test: 'is refused from the page of another origin',
  },
  {
    name: 'api: a form is taken for an order',
    defence: 'what a page can send to anybody without being asked is no order',
    file: `${AUTH}door.ts`,
    find: "if (hasBody(request) && request.is('application/json') === false) throw notJson();",
    replace: '',
    killedBy: BROWSER,
    test: 'can not be smuggled in as a form',
  },
  {
    name: 'api: any name of this machine is believed',
    defence: 'a name that merely resolves to loopback opens nothing',
    file: `${AUTH}door.ts`,
    find: 'if (isUnguarded(this.access) && !isSentToLoopback(request)) throw foreignHost();',
    replace: '',
    killedBy: BROWSER,
    test: 'answers to no other name than its own',
  },
  {
    name: 'api: a pod starts open to everybody',
    defence: 'without tokens a pod does not listen beyond loopback',
    file: `${AUTH}access.ts`,
    find: 'if (!isUnguarded(access) || isLoopbackHost(host)) return;',
    replace: 'return;',
    killedBy: REFUSALS,
    test: 'does not start on 0.0.0.0',
  },
  {
    name: 'api: a file without tokens means that none are wanted',
    defence: 'a secret that was not mounted opens nothing',
    file: `${AUTH}access.ts`,
    find: 'if (tokens.length > 0) return tokens;',
    replace: 'return tokens;',
    killedBy: REFUSALS,
    test: 'does not start with what can not be meant',
  },
  {
    name: 'api: a role that is none is a role',
    defence: 'what a guard of its own says is checked',
    file: `${AUTH}door.ts`,
    find: ' && ROLES.includes(role)',
    replace: '',
    killedBy: REFUSALS,
    test: 'lets nobody in by throwing',
  },
  {
    name: 'api: the board tries again what is over',
    defence: 'a retry on the board is decided by the ledger',
    file: 'apps/scheduler/src/board/board-access.ts',
    find: 'if (!run || !OVER.includes(run.state)) return null;',
    replace: 'if (run) return null;',
    killedBy: BOARD,
    test: 'does not try again what is over by the ledger',
  },
  {
    name: 'api: the board leaves no record',
    defence: 'whoever stops the queue is written down',
    file: 'apps/scheduler/src/board/board-access.ts',
    find: "if (method === 'get' || RECORDED.test(route)",
    replace: "if (method !== 'get' || RECORDED.test(route)",
    killedBy: BOARD,
    test: 'records who stops the queue',
  },
  {
    name: 'api: all crons are read for each page',
    defence: '5,000 crons are listed with a bounded number of calls',
    file: 'apps/scheduler/src/api/cron-directory.ts',
    find: 'if (this.#snapshot && now - this.#readAt < FRESH_MS) return this.#snapshot;',
    replace: '',
    killedBy: 'test/api/many-crons.spec.ts',
    test: 'a bounded number of calls',
  },
];
