import type { Answers } from '@fencepost/client';
import { answered, refused, type ConsoleClient } from './console-client.js';
import { needsHistories, type CronQuery, type FoundCrons } from './cron-query.js';
import type { Deployment, NotRemoved, Removed } from './deployment.js';

/** The most that a page of the API has. */
const AT_ONCE = 500;

/** Page after page, until there are as many as are asked for. */
export async function cronsByPage(
  api: ConsoleClient,
  { limit, cursor: after, ...wanted }: CronQuery,
): Promise<FoundCrons> {
  const items: Answers['CronSummary'][] = [];
  let cursor: string | null = after ?? null;
  for (;;) {
    const few = Math.min(limit - items.length, AT_ONCE);
    const page = await cronPage(api, { ...wanted, limit: few, ...(cursor !== null && { cursor }) });
    items.push(...page.items);
    cursor = page.next;
    if (cursor === null || items.length >= limit) return { ...page, items, unread: await unread(api, wanted, items) };
  }
}

/** One page, of at most 500. */
export function cronPage(api: ConsoleClient, query: CronQuery): Promise<Answers['CronPage']> {
  return answered(api.GET('/api/crons', { params: { query } }));
}

export async function removeCron(
  api: ConsoleClient,
  cron: string,
  query: Parameters<Deployment['remove']>[1],
): Promise<Removed | NotRemoved> {
  try {
    const params = { path: { cron }, query };
    const { declaredBy } = await answered(api.DELETE('/api/crons/{cron}', { params }));
    return { by: (await answered(api.GET('/api/me'))).name, declaredBy };
  } catch (error) {
    const { details, message } = refused(error, 'CATALOG_MOVED', 'DECLARED_CRON');
    return { ...details, message } as NotRemoved;
  }
}

/** The console reads histories little by little, while somebody looks. */
async function unread(
  api: ConsoleClient,
  wanted: Omit<CronQuery, 'limit' | 'cursor'>,
  shown: readonly Answers['CronSummary'][],
) {
  if (!needsHistories(wanted)) return shown.filter(({ health }) => health.state === 'unknown').length;
  return (await cronPage(api, { state: 'unknown', sort: 'name', limit: 1 })).total;
}
