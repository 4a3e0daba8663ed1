import tty from 'node:tty';
import { Inject, Injectable } from '@nestjs/common';
import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import { CLOCK } from '@fencepost/lease/nest';
import type { Events } from '../telemetry/events.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { PodRoles, type ChosenRoles } from './pod-roles.js';
import { wasSignalled } from './signal-drain.js';
import { CHOSEN_ROLES } from './tokens.js';

/** A REPL reads its terminal by then. */
const LOOK_MS = 5_000;
/** A process that runs longer counts as a service, however it ends. */
const MAX_SCRIPT_MS = 10 * 60_000;

type Reason = Events['script.suspected']['reason'];

/**
 * Warns when a script was a pod. A seed, a migration or a REPL that imports the application's module, roles included, acquires crons
 * of the deployment and runs them.
 *
 * A missing server proves nothing: dedicated workers have none. But a signal ends a service, while a script ends by itself soon after
 * boot, and only a REPL reads keys from a terminal.
 */
@Injectable()
export class ScriptWatch implements OnModuleInit, OnModuleDestroy {
  @Inject(CHOSEN_ROLES) private readonly chosen!: ChosenRoles;
  @Inject(PodRoles) private readonly podRoles!: PodRoles;
  @Inject(HttpAdapterHost) private readonly http!: HttpAdapterHost;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;

  #startedAt = 0;
  #cancelLook: CancelTimer = () => {};

  onModuleInit(): void {
    // A process that fails to start is not a script.
    if (!this.chosen.isNamed) this.podRoles.whenAllBegun(this.chosen, () => this.#start());
  }

  onModuleDestroy(): void {
    // A process that failed reports its own error.
    if (!process.exitCode) this.end('closed-by-itself');
    this.#stop();
  }

  /** Called when the application closes or the process exits. */
  end(reason: Reason): void {
    const isShort = this.clock.monotonic() - this.#startedAt < MAX_SCRIPT_MS;
    if (isShort && !wasSignalled()) this.#suspect(reason);
  }

  #start(): void {
    this.#startedAt = this.clock.monotonic();
    if (WATCHES.size === 0) process.on('exit', onExit);
    WATCHES.add(this);
    this.#cancelLook = this.clock.after(LOOK_MS, () => {
      if (isTypedInto()) this.#suspect('interactive');
    });
  }

  #stop(): void {
    this.#cancelLook();
    if (WATCHES.delete(this) && WATCHES.size === 0) process.off('exit', onExit);
  }

  /** Warns at most once. */
  #suspect(reason: Reason): void {
    if (!WATCHES.has(this) || this.#isServing()) return;
    this.#stop();
    const upMs = Math.round(this.clock.monotonic() - this.#startedAt);
    this.telemetry.emit('script.suspected', { roles: this.chosen.roles.join('+'), reason, upMs });
  }

  #isServing(): boolean {
    return this.http.listening || hasServer();
  }
}

/** One listener for all modules of the process. */
const WATCHES = new Set<ScriptWatch>();

function onExit(code: number): void {
  if (code !== 0) return;
  for (const watch of [...WATCHES]) watch.end('exited');
}

/** Whether the process listens anywhere, as a microservice does. A runtime that can't tell gets no warning. */
function hasServer(): boolean {
  const kinds: unknown = Reflect.get(process, 'getActiveResourcesInfo')?.();
  return !Array.isArray(kinds) || kinds.some((kind) => /^(TCP|Pipe)Server/.test(String(kind)));
}

/** Whether the process reads single keys from its terminal, as a REPL does. */
function isTypedInto(): boolean {
  return tty.isatty(0) && process.stdin.isRaw;
}
