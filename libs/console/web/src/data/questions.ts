import type { Answers, paths } from '@fencepost/client';
import { answered, client } from './client.js';
import type { OwnLease } from './types.js';

/** Something the API is asked, again and again while it is shown. */
export interface Query<Data> {
  /** The same for the same question. */
  readonly key: string;
  readonly ask: (signal: AbortSignal) => Promise<Data>;
}

export type RunWords = NonNullable<paths['/api/runs']['get']['parameters']['query']>;

type Reply<Data> = Parameters<typeof answered<Data>>[0];

function question<Data>(key: readonly unknown[], send: (signal: AbortSignal) => Reply<Data>): Query<Data> {
  return { key: JSON.stringify(key), ask: (signal) => answered(send(signal), signal) };
}

type TimelineWords = NonNullable<paths['/api/crons/{cron}/timeline']['get']['parameters']['query']>;

interface Range {
  readonly from: string;
  readonly to: string;
  readonly limit?: number;
  readonly bucket?: NonNullable<TimelineWords['bucket']>;
}

type CronWords = NonNullable<paths['/api/crons']['get']['parameters']['query']>;

type LeaseWords = NonNullable<paths['/api/leases']['get']['parameters']['query']>;

interface OwnLeaseWords {
  readonly limit: number;
  readonly search?: string;
  readonly kind?: OwnLease['kind'];
  readonly cursor?: string;
}

type Marker = Answers['Cleared']['marker'];
type OwnTerm = Pick<OwnLease, 'kind' | 'resource' | 'fence' | 'holder'>;

/** What became of a lease that was cleared. */
export const leaseWatches = {
  cron: (cron: string, query: Marker) =>
    question(['watch', cron, query], (signal) =>
      client.GET('/api/leases/{cron}/watch', { params: { path: { cron }, query }, signal }),
    ),
  own: (query: OwnTerm) =>
    question(['watch-own', query], (signal) => client.GET('/api/own-leases/watch', { params: { query }, signal })),
};

const LATEST = { limit: 100 };

/** Of one cron. */
export const cronQuestions = {
  detail: (cron: string) =>
    question(['cron', cron], (signal) => client.GET('/api/crons/{cron}', { params: { path: { cron } }, signal })),
  timeline: (cron: string, query: Range) =>
    question(['timeline', cron, query], (signal) =>
      client.GET('/api/crons/{cron}/timeline', { params: { path: { cron }, query }, signal }),
    ),
  why: (cron: string, at: string) =>
    question(['why', cron, at], (signal) =>
      client.GET('/api/crons/{cron}/why', { params: { path: { cron }, query: { at } }, signal }),
    ),
  runs: (cron: string, limit: number) =>
    question(['runs', cron, limit], (signal) =>
      client.GET('/api/crons/{cron}/runs', { params: { path: { cron }, query: { limit } }, signal }),
    ),
  journal: (cron: string) =>
    question(['journal', cron], (signal) =>
      client.GET('/api/crons/{cron}/journal', { params: { path: { cron }, query: LATEST }, signal }),
    ),
};

/** Of the whole deployment. */
export const questions = {
  overview: question(['overview'], (signal) => client.GET('/api/overview', { signal })),
  pods: question(['pods'], (signal) => client.GET('/api/pods', { signal })),
  triage: question(['triage'], (signal) => client.GET('/api/triage', { signal })),
  doctor: question(['doctor'], (signal) => client.GET('/api/doctor', { signal })),
  crons: (query: CronWords) =>
    question(['crons', query], (signal) => client.GET('/api/crons', { params: { query }, signal })),
  leases: (query: LeaseWords) =>
    question(['leases', query], (signal) => client.GET('/api/leases', { params: { query }, signal })),
  ownLeases: (query: OwnLeaseWords) =>
    question(['own-leases', query], (signal) => client.GET('/api/own-leases', { params: { query }, signal })),
  forecast: (query: { readonly hours: number; readonly timeZone: string; readonly tag?: string }) =>
    question(['upcoming', query], (signal) => client.GET('/api/upcoming', { params: { query }, signal })),
  dueAt: (query: { readonly at: string; readonly tag?: string }) =>
    question(['due-at', query], (signal) => client.GET('/api/upcoming/at', { params: { query }, signal })),
  journal: (limit: number) =>
    question(['journal', limit], (signal) => client.GET('/api/journal', { params: { query: { limit } }, signal })),
  mutes: () => question(['mutes'], (signal) => client.GET('/api/mutes', { signal })),
  receivers: () => question(['receivers'], (signal) => client.GET('/api/receivers', { signal })),
  audit: (query: { readonly limit: number; readonly cursor?: string; readonly cron?: string }) =>
    question(['audit', query], (signal) => client.GET('/api/audit', { params: { query }, signal })),
  runs: (query: RunWords) =>
    question(['runs', query], (signal) => client.GET('/api/runs', { params: { query }, signal })),
  failures: (query: Pick<RunWords, 'cron' | 'tag' | 'from' | 'to'>) =>
    question(['failures', query], (signal) => client.GET('/api/runs/failures', { params: { query }, signal })),
  run: (id: string) =>
    question(['run', id], (signal) => client.GET('/api/runs/{id}', { params: { path: { id } }, signal })),
};
