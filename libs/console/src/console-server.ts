import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationBootstrap, OnModuleInit, Provider } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { JobsModule } from '@fencepost/jobs';
import { SetupError } from '@fencepost/lease';
import { isUnguarded } from './auth/access.js';
import { openConsoleApp } from './console-app.js';
import { refuseExposure } from './http/exposure.js';
import { mounted } from './http/mount.js';
import type { ConsoleSettings } from './options.js';

/** The {@link ConsoleSettings}. */
export const SETTINGS = Symbol('CONSOLE_SETTINGS');
/** What the console takes from the application that it is mounted in, as providers for its own. */
export const HOST = Symbol('CONSOLE_HOST');
/** Whether the application said itself which `JobsModule` is meant. */
export const IS_JOBS_GIVEN = Symbol('CONSOLE_IS_JOBS_GIVEN');

type Given = Provider & { readonly provide: unknown };
type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The console's own application, and its place in the one around it. */
@Injectable()
export class ConsoleServer implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  @Inject(HttpAdapterHost) private readonly host!: HttpAdapterHost;
  @Inject(ApplicationConfig) private readonly config!: ApplicationConfig;
  @Inject(ModulesContainer) private readonly modules!: ModulesContainer;
  @Inject(SETTINGS) private readonly settings!: ConsoleSettings;
  @Inject(HOST) private readonly given!: readonly Given[];
  @Inject(IS_JOBS_GIVEN) private readonly isJobsGiven!: boolean;

  #app: NestExpressApplication | null = null;

  /** The console's own application; `null` before it was opened. */
  get app(): NestExpressApplication | null {
    return this.#app;
  }

  /** Before the application's own routes, which may match every path. */
  mount(): void {
    this.host.httpAdapter.use(
      mounted(this.#mountPoint(), () => this.#app?.getHttpAdapter().getInstance() as Handler | null),
    );
  }

  async onModuleInit(): Promise<void> {
    if (!this.isJobsGiven) this.#checkJobs();
    // An application that serves no HTTP has nowhere to mount it.
    if (this.host.httpAdapter) this.#app = await openConsoleApp(this.given, this.settings);
  }

  onApplicationBootstrap(): void {
    const server = this.host.httpAdapter?.getHttpServer() as Server | undefined;
    if (!server || !isUnguarded(this.settings.access)) return;
    refuseExposure(server);
    new Logger('ConsoleModule').warn(
      `Open without authentication: the page, the API and Bull Board at ${this.#mountPoint()}. Every program on this machine, and ` +
        'everyone whom a reverse proxy on it lets in, may pause, trigger and remove crons and clear leases. Set "auth" to ask who comes.',
    );
  }

  /** Before the server closes, which waits for every listener of events. */
  async beforeApplicationShutdown(): Promise<void> {
    const app = this.#app;
    this.#app = null;
    await app?.close();
  }

  /** @throws {SetupError} where it is open which deployment the console shows */
  #checkJobs(): void {
    const found = [...this.modules.values()].filter(({ metatype }) => metatype === JobsModule);
    if (found.length < 2) return;
    throw new SetupError(
      `ConsoleModule: the application has ${found.length} JobsModules. Pass the one to show: ` +
        `const jobs = JobsModule.forRoot(...); ConsoleModule.forRoot({ path, jobs }).`,
    );
  }

  #mountPoint(): string {
    const { path } = this.settings;
    const prefix = this.config.getGlobalPrefix().replace(/^\/|\/$/g, '');
    const { exclude = [] } = this.config.getGlobalPrefixOptions();
    const isExcluded = exclude.some(({ pathRegex }) => pathRegex.test(path));
    return prefix === '' || isExcluded ? path : `/${prefix}${path}`;
  }
}
