import type { paths } from '@fencepost/client';
import { answered, client } from './client.js';

type Route = keyof paths;

/** What has to be said with an order. */
type Body<Place extends Route, Method extends 'post' | 'put' = 'post'> = paths[Place][Method] extends {
  requestBody: { content: { 'application/json': infer Said } };
}
  ? Said
  : never;

const ofCron = (cron: string) => ({ path: { cron } });
const ofRun = (id: string) => ({ path: { id } });

/** What may be done to a cron. Each of them stands in the audit trail with its reason. */
export const cronOrders = {
  pause: (cron: string, body: Body<'/api/crons/{cron}/pause'>) =>
    answered(client.POST('/api/crons/{cron}/pause', { params: ofCron(cron), body })),
  resume: (cron: string, body: Body<'/api/crons/{cron}/resume'>) =>
    answered(client.POST('/api/crons/{cron}/resume', { params: ofCron(cron), body })),
  trigger: (cron: string, body: Body<'/api/crons/{cron}/trigger'>) =>
    answered(client.POST('/api/crons/{cron}/trigger', { params: ofCron(cron), body })),
  backfill: (cron: string, body: Body<'/api/crons/{cron}/backfill'>) =>
    answered(client.POST('/api/crons/{cron}/backfill', { params: ofCron(cron), body })),
  remove: (cron: string, query: { readonly reason: string }) =>
    answered(client.DELETE('/api/crons/{cron}', { params: { ...ofCron(cron), query } })),
  set: (cron: string, body: Body<'/api/crons/{cron}', 'put'>) =>
    answered(client.PUT('/api/crons/{cron}', { params: ofCron(cron), body })),
  /** To all crons with a tag, or to named ones. */
  bulk: (body: Body<'/api/crons/orders'>) => answered(client.POST('/api/crons/orders', { body })),
  clearLease: (cron: string, body: Body<'/api/leases/{cron}/clear'>) =>
    answered(client.POST('/api/leases/{cron}/clear', { params: ofCron(cron), body })),
};

/** What may be done to a lease of the application. */
export const ownLeaseOrders = {
  clear: (body: Body<'/api/own-leases/clear'>) => answered(client.POST('/api/own-leases/clear', { body })),
};

/** What may be done to mutes and receivers. */
export const notifyOrders = {
  mute: (body: Body<'/api/mutes'>) => answered(client.POST('/api/mutes', { body })),
  unmute: (
    query: { readonly cron: string; readonly reason: string } | { readonly tag: string; readonly reason: string },
  ) => answered(client.DELETE('/api/mutes', { params: { query } })),
  test: (id: string, body: Body<'/api/receivers/{id}/test'>) =>
    answered(client.POST('/api/receivers/{id}/test', { params: ofRun(id), body })),
};

/** What may be done to a run. */
export const runOrders = {
  cancel: (id: string, body: Body<'/api/runs/{id}/cancel'>) =>
    answered(client.POST('/api/runs/{id}/cancel', { params: ofRun(id), body })),
  batch: (body: Body<'/api/runs/orders'>) => answered(client.POST('/api/runs/orders', { body })),
  retry: (id: string, body: Body<'/api/runs/{id}/retry'>) =>
    answered(client.POST('/api/runs/{id}/retry', { params: ofRun(id), body })),
  resolve: (id: string, body: Body<'/api/runs/{id}/resolve'>) =>
    answered(client.POST('/api/runs/{id}/resolve', { params: ofRun(id), body })),
};
