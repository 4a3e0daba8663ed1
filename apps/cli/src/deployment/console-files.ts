import type { Answers } from '@fencepost/client';
import { InvalidCronsError, lineOf, type CronLines, type ManyReport } from '../jobs.js';
import { FencepostError } from '@fencepost/lease';
import type { ConsoleAddress } from './console-address.js';
import { answered, authorization, awayFrom, ConsoleRefusal, refusalOf, type ConsoleClient } from './console-client.js';
import type { ImportOrder } from './deployment.js';

/** One request takes about a second: soon enough for its progress, and for what stands in front of a console. */
const LINES_AT_ONCE = 2_000;

type Answer = Pick<
  Answers['Imported'],
  'asked' | 'created' | 'changed' | 'unchanged' | 'failed' | 'problems' | 'stopped'
>;

/**
 * Sends part after part. All are validated by the console before the first is written, so that nothing is where a line is invalid.
 */
export async function importInParts(api: ConsoleClient, lines: CronLines, order: ImportOrder): Promise<ManyReport> {
  if (lines.problems.length > 0) {
    const { problems, crons } = lines;
    throw new InvalidCronsError(problems, problems.length, problems.length + crons.length);
  }
  const checked = await importPass(api, lines, { ...order, dryRun: true, onProgress: () => {} });
  if (order.dryRun || checked.stopped) return { ...checked, dryRun: order.dryRun };
  return importPass(api, lines, order);
}

async function importPass(api: ConsoleClient, lines: CronLines, order: ImportOrder): Promise<ManyReport> {
  const { crons } = lines;
  const { dryRun, signal, onProgress } = order;
  const problems: ManyReport['problems'][number][] = [];
  const invalid: typeof problems = [];
  const counts = { asked: 0, created: 0, changed: 0, unchanged: 0, failed: 0 };
  let stopped: ManyReport['stopped'] = null;
  for (let at = 0; at < crons.length && !stopped; at += LINES_AT_ONCE) {
    if (signal.aborted) {
      stopped = { code: 'ABORTED', detail: 'It was stopped.' };
      break;
    }
    const part = crons.slice(at, at + LINES_AT_ONCE);
    const body = part.map((cron) => `${lineOf(cron)}\n`).join('');
    const answer = await askPart(api, body, order).catch((error: unknown) => {
      invalid.push(...problemsIn(error, lines, at));
      return NOTHING;
    });
    for (const key of ['asked', 'created', 'changed', 'unchanged', 'failed'] as const) counts[key] += answer[key];
    problems.push(...answer.problems.map((problem) => atLine(problem, lines, at)));
    stopped = answer.stopped as ManyReport['stopped'];
    onProgress({ total: crons.length, ...counts });
  }
  if (invalid.length > 0) throw new InvalidCronsError(invalid, invalid.length, crons.length);
  return { total: crons.length, ...counts, dryRun, problems, stopped };
}

/** As they come. */
export async function* exportedLines(address: ConsoleAddress, tag: string | undefined): AsyncGenerator<string, void> {
  const query = tag === undefined ? '' : `?tag=${encodeURIComponent(tag)}`;
  try {
    const url = `${address.url}/api/crons/export${query}`;
    const response = await fetch(url, { headers: authorization(address), redirect: 'manual' });
    const isLines = /^application\/x-ndjson\b/.test(response.headers.get('content-type') ?? '');
    if (!response.ok || !isLines || !response.body) {
      throw refusalOf(response, await response.text(), { address, isOrder: false });
    }
    yield* response.body.pipeThrough(new TextDecoderStream());
  } catch (error) {
    if (error instanceof FencepostError) throw error;
    throw awayFrom(error, { address, timeoutMs: 0, isOrder: false });
  }
}

const NOTHING: Answer = { asked: 0, created: 0, changed: 0, unchanged: 0, failed: 0, problems: [], stopped: null };

function askPart(api: ConsoleClient, body: string, { reason, dryRun }: ImportOrder): Promise<Answer> {
  return answered(
    api.POST('/api/crons/import', {
      params: { query: { reason, dryRun } },
      body,
      bodySerializer: (text: string) => text,
      headers: { 'content-type': 'application/x-ndjson' },
    }),
  );
}

type Problem = Answers['Imported']['problems'][number];

/** In the lines of the file, not in those of the part. */
function atLine({ line, ...problem }: Problem, { positions }: CronLines, from: number) {
  return { position: positions[from + line - 1] ?? line, ...problem };
}

function problemsIn(error: unknown, lines: CronLines, from: number) {
  if (!(error instanceof ConsoleRefusal)) throw error;
  if (error.problem === 'INVALID_CRONS') {
    return (error.details['problems'] as Problem[]).map((problem) => atLine(problem, lines, from));
  }
  throw error;
}
