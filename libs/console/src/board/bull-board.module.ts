import { createBullBoard } from '@bull-board/api';
import type { ControllerHandlerReturnType, HTTPStatus } from '@bull-board/api/typings/app';
import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, MiddlewareConsumer, NestModule } from '@nestjs/common';
import { Telemetry } from '@fencepost/jobs';
import { CronCatalog, CronOperator, RunOperator } from '@fencepost/operations';
import { CronDirectory, READS, type Reads } from '@fencepost/operations/internal';
import { FORMER_QUEUE, JOBS_SETTINGS, type BullmqRunQueue, type JobsSettings } from '@fencepost/jobs/internal';
import { ReadGate } from '../api/read-gate.js';
import { READ_QUEUE } from '../api/reading.module.js';
import { CommandService } from '../api/command-service.js';
import { problemOf } from '../api/problem.js';
import { currentCaller } from '../auth/caller.js';
import { unknownCaller } from '../auth/refusals.js';
import { upFrom } from '../http/page.js';
import { placeOf, type Middleware } from '../http/web-request.js';
import { BoardAccess } from './board-access.js';
import { BASE_SCRIPT, BASE_SCRIPT_FILE, BoardOfOurs, type BoardWords } from './board-of-ours.js';
import { CronAdapter } from './cron-adapter.js';

/** Below where the console is mounted. */
const PLACE = '/queues';
const BASE_SCRIPT_PLACE = `${PLACE}/${BASE_SCRIPT_FILE}`;

const ICON = '../favicon.svg';
const TIME = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
const DAY = { month: 'short', day: 'numeric' } as const;

const LOOK = {
  boardTitle: 'Fencepost',
  boardLogo: { path: ICON, width: 24, height: 24 },
  favIcon: { default: ICON, alternative: ICON },
  dateFormats: { short: TIME, common: { ...DAY, ...TIME }, full: { year: 'numeric', ...DAY, ...TIME } as const },
  hideDocsLink: true,
  miscLinks: [{ text: 'Crons', url: '../' }],
};

/** The statuses that the board knows. */
const KNOWN: readonly number[] = [400, 403, 404, 409];

/** What BullMQ says without a code: that another worker has the job, that the queue is busy, that a value is out of range. */
const REFUSED = /locked by another worker|^Cannot obliterate|^Priority should/;

/** BullMQ has looked and has refused: its scripts answer with a negative code. The same words elsewhere are a failure. */
function isRefusal(error: Error): boolean {
  return ('code' in error && typeof error.code === 'number' && error.code < 0) || REFUSED.test(error.message);
}

/** What a person is told on the board: the same sentence as by the API, and what BullMQ refuses in its own words. */
function problemOnBoard(error: Error): ControllerHandlerReturnType {
  if (isRefusal(error)) return { status: 409, body: { error: `BullMQ refused it: ${error.message}` } };
  // The board does not say what it was asked for, and an order that may have been carried out matters more.
  const { status, detail } = problemOf(error, true);
  return { status: KNOWN.includes(status) ? (status as HTTPStatus) : 500, body: { error: detail } };
}

/** For what is no controller and has no guard: goes on only for somebody whom the access boundary has let in. */
const enterBoard: Middleware = (request, response, next) => {
  if (!currentCaller()) return next(unknownCaller());
  const { path } = placeOf(request);
  if (path === BASE_SCRIPT_PLACE) return response.type('js').send(BASE_SCRIPT);
  const words: BoardWords = { base: `${upFrom(path)}${PLACE.slice(1)}/` };
  Object.assign(response.locals, words);
  next();
};

/** Bull Board at `/queues`: a queue for each app and pool. Imported only if the packages of the board are installed. */
@Module({})
export class QueuesBoardModule implements NestModule {
  @Inject(READ_QUEUE) private readonly runs!: BullmqRunQueue;
  @Inject(ReadGate) private readonly gate!: ReadGate;
  @Inject(CronDirectory) private readonly directory!: CronDirectory;
  @Inject(CommandService) private readonly service!: CommandService;
  @Inject(CronOperator) private readonly operator!: CronOperator;
  @Inject(RunOperator) private readonly runOperator!: RunOperator;
  @Inject(CronCatalog) private readonly crons!: CronCatalog;
  @Inject(READS) private readonly reads!: Reads;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;
  @Inject(BoardAccess) private readonly access!: BoardAccess;
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;

  /** The board's own Express app. */
  router: ReturnType<BoardOfOurs['getRouter']> = null;

  /**
   * @param reading the module that provides the queue
   * @param api the module that looks at crons and carries out orders
   */
  static on(reading: DynamicModule, api: DynamicModule): DynamicModule {
    return { module: QueuesBoardModule, imports: [reading, api], providers: [BoardAccess] };
  }

  #shown = '';

  configure(consumer: MiddlewareConsumer): void {
    const mounted = new BoardOfOurs();
    const environment = { label: this.settings.tenant, color: '#3b6ea5', textColor: '#ffffff' };
    const board = createBullBoard({
      queues: [],
      serverAdapter: mounted.setBasePath(PLACE),
      options: { uiConfig: { ...LOOK, environment }, handlerHooks: this.access },
    });
    // Its own answer to an error shows where in the program it came from.
    mounted.setErrorHandler(problemOnBoard);
    this.router = mounted.getRouter();
    const refresh: Middleware = (_request, _response, next) => {
      // A board that has read no queue yet must not look empty. Later, the requests that need the store say what failed.
      this.#refresh(board).then(
        () => next(),
        (error: unknown) => (this.#shown === '' ? next(error) : next()),
      );
    };
    consumer.apply(enterBoard, refresh, this.router).forRoutes(PLACE);
  }

  /** Apps and pools come and go while the board is open. */
  async #refresh({ replaceQueues }: Pick<ReturnType<typeof createBullBoard>, 'replaceQueues'>): Promise<void> {
    const names = await this.#names();
    if (names.join() === this.#shown) return;
    this.#shown = names.join();
    const { runs, directory, service, operator, runOperator, crons, gate, telemetry } = this;
    const { ledger } = this.reads;
    const deps = { runs, directory, service, operator, runOperator, crons, gate, ledger, telemetry };
    const adapters = names.map((queue, n) => {
      const lists = (other: string) => other === queue || (n === 0 && !names.includes(other));
      return new CronAdapter({ ...deps, queue, lists });
    });
    replaceQueues(adapters);
  }

  /** Without the queue of former releases where others are used and nothing is in it. */
  async #names(): Promise<string[]> {
    const { queues } = this.runs;
    const names = await queues.names();
    if (names.length === 1) return names;
    const isEmpty = Object.values(await queues.named(FORMER_QUEUE).getJobCounts()).every((count) => count === 0);
    return isEmpty ? names.filter((name) => name !== FORMER_QUEUE) : names;
  }
}
