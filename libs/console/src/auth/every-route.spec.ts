import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConsoleServer } from '../console-server.js';
import { QueuesBoardModule } from '../board/bull-board.module.js';
import { SECRETS, startSchedulerApp, type RunningApp } from '../../../../test/support/scheduler-app.js';

interface Layer {
  readonly handle: unknown;
  readonly route?: { readonly path: string | string[]; readonly methods: Readonly<Record<string, boolean>> };
}

interface Place {
  readonly method: string;
  readonly path: string;
}

let running: RunningApp;
let places: Place[];

beforeAll(async () => {
  running = await startSchedulerApp();
  const console = running.app.get(ConsoleServer, { strict: false }).app!;
  const board = console.get(QueuesBoardModule, { strict: false });
  // Nest mounts the board behind a function of its own, which no stack shows the inside of.
  const [own, inner] = [running.app, console].map((app) => app.getHttpAdapter().getInstance() as unknown);
  places = [...placesOf(own, ''), ...placesOf(inner, '/crons'), ...placesOf(board.router, '/crons/queues')];
});
afterAll(() => running.close());

/** Every route that Express has, those of routers that are mounted in it as well. */
function placesOf(of: unknown, under: string): Place[] {
  const router: unknown = Reflect.get(Object(of), 'router') ?? of;
  const stack = (Reflect.get(Object(router), 'stack') ?? []) as Layer[];
  return stack.flatMap(({ route, handle }) => {
    if (!route) return typeof handle === 'function' ? placesOf(handle, under) : [];
    const methods = Object.keys(route.methods).filter((method) => METHODS.includes(method));
    return [route.path]
      .flat()
      .flatMap((path) => methods.map((method) => ({ method: method.toUpperCase(), path: `${under}${filled(path)}` })));
  });
}

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'];

const OPEN = ['GET /health/live', 'GET /health/ready', 'POST /crons/session', 'DELETE /crons/session'];

function filled(path: string): string {
  return path
    .replace(/:id\b/g, 'a@1')
    .replace(/:queueName\b/g, 'runs')
    .replace(/:\w+/g, 'some')
    .replace(/[{}*]/g, '');
}

const isMutation = ({ method }: Place) => !['GET', 'HEAD', 'OPTIONS'].includes(method);

async function statusOf({ method, path }: Place, as: 'viewer' | null): Promise<string> {
  const type = path.endsWith('/import') ? 'application/x-ndjson' : 'application/json';
  const body = isMutation({ method, path }) ? { body: '{}', headers: { 'content-type': type } } : {};
  const response = await running.ask(path, { as, method, ...body });
  await response.body?.cancel();
  return `${response.status} ${method} ${path}`;
}

describe('every route that the framework lists', () => {
  it('is found: those of the API, of the documentation, of the metrics and of the board', () => {
    const listed = places.map(({ method, path }) => `${method} ${path}`);
    expect(listed).toEqual(
      expect.arrayContaining([
        ...['GET /crons/api/crons', 'DELETE /crons/api/crons/some', 'POST /crons/api/leases/some/clear'],
        ...['GET /crons/api/events'],
        ...['GET /crons/docs', 'GET /crons/openapi.json', 'GET /metrics', ...OPEN],
        ...['GET /crons/queues/', 'GET /crons/queues/api/queues', 'PUT /crons/queues/api/queues/runs/obliterate'],
        ...['PUT /crons/queues/api/queues/runs/job-schedulers/some/run'],
        ...['PATCH /crons/queues/api/queues/runs/some/update-data'],
      ]),
    );
    expect(listed.length).toBeGreaterThan(70);
  });

  it('answers 401 without a token, but for health and signing in', async () => {
    const asked = places.filter(({ method, path }) => !OPEN.includes(`${method} ${path}`));
    const statuses = await Promise.all(asked.map((place) => statusOf(place, null)));
    expect(statuses.filter((status) => !status.startsWith('401 '))).toEqual([]);
    expect(statuses.length).toBeGreaterThan(65);
  });

  it('answers 403 to a viewer who wants to change something', async () => {
    const orders = places.filter((place) => isMutation(place) && !place.path.startsWith('/crons/session'));
    // What matches every path is no route of anybody's: it is asked like any other.
    const own = orders.filter(({ path }) => /^\/crons\/(api|queues)\//.test(path));
    expect(own.length).toBeGreaterThan(30);
    const statuses = await Promise.all(own.map((place) => statusOf(place, 'viewer')));
    expect(statuses.filter((status) => !status.startsWith('403 '))).toEqual([]);
  });

  it('answers 403 to an operator who wants to take something away', async () => {
    const paths = ['/api/leases/some/clear', '/api/own-leases/clear'];
    const statuses = await Promise.all(paths.map(async (path) => (await running.order(path, {}, 'operator')).status));
    expect(statuses).toEqual([403, 403]);
    const removal = running.ask('/api/crons/some?reason=old', { as: 'operator', method: 'DELETE' });
    expect((await removal).status).toBe(403);
    const board = ['/job-schedulers/some/remove', '/obliterate', '/empty', '/pause', '/clean/completed'];
    const put = (path: string) => running.ask(`/queues/api/queues/runs${path}`, { as: 'operator', method: 'PUT' });
    expect(await Promise.all(board.map(async (path) => (await put(path)).status))).toEqual([403, 403, 403, 403, 403]);
  });

  it.each([
    '/crons/api//crons',
    '/crons/API/crons',
    '/crons/api/crons/',
    '/crons/%61pi/crons',
    '/crons/session/../api/crons',
    '/crons/session/x',
    '/crons/Assets/x.js',
  ])('is not reached unasked by another spelling: %s', async (path) =>
    expect((await running.ask(path, { as: null })).status).toBe(401),
  );

  it.each([
    '',
    'Bearer',
    'Bearer wrong',
    `Basic ${SECRETS.admin}`,
    `Bearer ${SECRETS.admin}x`,
    `Bearer ${'x'.repeat(600)}`,
  ])('is not opened by the header %j', async (authorization) =>
    expect((await running.ask('/api/crons', { as: null, headers: { authorization } })).status).toBe(401),
  );
});
