import { describe, expect, it } from 'vitest';
import {
  ALARM_QUEUE_NAME,
  FORMER_QUEUE,
  isOwnQueue,
  queueOfGroup,
  queuesOfWorker,
  Routing,
  UNROUTED_QUEUE,
  type RoutedWorker,
} from './routing.js';

const worker = (app: string, handlers: readonly string[], more: Partial<RoutedWorker> = {}): RoutedWorker => ({
  app,
  handlers,
  pools: ['default'],
  revision: 1,
  startedAt: 0,
  ...more,
});

const former = (app: string, handlers: readonly string[]): RoutedWorker => {
  const { pools: _pools, ...others } = worker(app, handlers);
  return others;
};

const ownOf = (one: RoutedWorker) => queuesOfWorker(one).find(isOwnQueue);

describe('Routing', () => {
  it('sends a run to the queue of its app while all workers of that have its handler', () => {
    const routing = new Routing([worker('billing', ['charge', 'remind']), worker('billing', ['remind', 'charge'])]);
    expect(routing.queueFor('charge', null)).toBe('billing');
  });

  it('keeps apps apart', () => {
    const routing = new Routing([worker('billing', ['charge']), worker('@shop/mail', ['send'])]);
    expect(routing.queueFor('charge', null)).toBe('billing');
    expect(routing.queueFor('send', null)).toBe('@shop~mail');
  });

  it('sends a run to the queue that only workers with its handler take from while workers of its app differ', () => {
    const added = worker('billing', ['charge', 'remind'], { revision: 2 });
    const routing = new Routing([worker('billing', ['charge']), added]);
    expect(routing.queueFor('charge', null)).toBe('billing');
    expect(routing.queueFor('remind', null)).toBe(ownOf(added));
  });

  it('prefers the newest revision among workers that have the handler, then the one that started last', () => {
    const workers = [
      worker('billing', ['charge', 'old'], { revision: 2 }),
      worker('billing', ['charge', 'new'], { revision: 3 }),
      worker('billing', ['none'], { revision: 4 }),
      worker('billing', ['charge', 'newer'], { revision: 3, startedAt: 1 }),
    ];
    expect(new Routing(workers).queueFor('charge', null)).toBe(ownOf(workers[3] as RoutedWorker));
  });

  it('knows no queue for a run whose handler no live worker has', () => {
    expect(new Routing([worker('billing', ['charge'])]).queueFor('send', null)).toBeNull();
    expect(new Routing([]).hasWorkers).toBe(false);
  });

  it('is not disturbed by a worker without handlers', () => {
    const idle = worker('billing', []);
    expect(new Routing([worker('billing', ['charge']), idle]).queueFor('charge', null)).toBe('billing');
    expect(queuesOfWorker(idle).every(isOwnQueue)).toBe(true);
  });

  it('sends a run to the app that is asked for where several have its handler', () => {
    const routing = new Routing([worker('billing', ['sync']), worker('stock', ['sync'])]);
    expect(routing.appsWith('sync').toSorted()).toEqual(['billing', 'stock']);
    expect(routing.queueFor('sync', 'stock')).toBe('stock');
    expect(routing.queueFor('sync', 'mail')).toBeNull();
  });

  it('gives each pool of an app a queue of its own', () => {
    const pooled = { render: 'heavy' };
    const light = worker('billing', ['charge']);
    const heavy = worker('billing', ['render'], { pools: ['heavy'], pooled });
    const both = worker('billing', ['charge', 'render'], { pools: ['default', 'heavy'], pooled });
    for (const workers of [[light, heavy], [light, heavy, both], [both]]) {
      const routing = new Routing(workers);
      expect(routing.queueFor('charge', null)).toBe('billing');
      expect(routing.queueFor('render', null)).toBe('billing.heavy');
    }
    expect(new Routing([light]).queueFor('render', null)).toBeNull();
  });

  it('names the queue of a group after the queue of its app, or of its pool', () => {
    const nameOf = (pools: readonly string[]) =>
      ownOf(worker('billing', ['render'], { pools }))?.replace(/[0-9a-f]{8}$/, '');
    expect(['default', 'heavy'].map((pool) => nameOf([pool]))).toEqual(['billing.only-', 'billing.heavy.only-']);
    expect(nameOf(['heavy', 'default'])).toBe('billing.only-');
    const [group] = [ownOf(worker('billing', ['render'], { pools: ['heavy'] })) ?? ''];
    expect([queueOfGroup(group), queueOfGroup('billing')]).toEqual(['billing.heavy', null]);
  });

  it('sends everything that a worker of a former release has to the only queue that this knows', () => {
    const routing = new Routing([former('billing', ['charge']), worker('billing', ['charge', 'remind'])]);
    expect(routing.queueFor('charge', null)).toBe(FORMER_QUEUE);
    expect(routing.queueFor('remind', null)).toBe('billing');
    expect(new Routing([former('a', ['x']), former('b', ['y'])]).queueFor('y', null)).toBe(FORMER_QUEUE);
  });

  it.each(['runs', 'no-worker', 'alarms', '@shop/mail'])(
    'gives the app %j a queue that nothing else goes through',
    (app) => {
      const queue = new Routing([worker(app, ['send'])]).queueFor('send', null);
      expect([FORMER_QUEUE, UNROUTED_QUEUE, ALARM_QUEUE_NAME]).not.toContain(queue);
    },
  );

  it('never sends a run to a queue that a worker without its handler takes from', () => {
    const names = ['a', 'b', 'c'];
    const sets = Array.from({ length: 8 }, (_, bits) => names.filter((_name, n) => bits & (1 << n)));
    for (const first of sets)
      for (const second of sets)
        for (const third of sets) {
          const workers = [worker('x', first), worker('x', second, { revision: 2 }), worker('y', third)];
          const routing = new Routing(workers);
          for (const name of names) {
            const queue = routing.queueFor(name, 'x');
            const takers = workers.filter((one) => queue !== null && queuesOfWorker(one).includes(queue));
            expect(takers.every(({ handlers }) => handlers.includes(name))).toBe(true);
            expect(queue === null).toBe(!first.includes(name) && !second.includes(name));
            expect(takers.length === 0).toBe(queue === null);
          }
        }
  });
});
