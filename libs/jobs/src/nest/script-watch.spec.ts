import { once } from 'node:events';
import { createServer } from 'node:net';
import tty from 'node:tty';
import { HttpAdapterHost } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { CLOCK } from '@fencepost/lease/nest';
import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { recordedEvents } from '../../../../test/support/recorded.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { PodRoles, type ChosenRoles } from './pod-roles.js';
import { ScriptWatch } from './script-watch.js';
import { CHOSEN_ROLES } from './tokens.js';

/** Somebody types into this process, key by key or line by line. */
function typeInto(isRaw: boolean): void {
  const isatty = vi.spyOn(tty, 'isatty').mockReturnValue(true);
  const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue({ isRaw } as typeof process.stdin);
  onTestFinished(() => {
    isatty.mockRestore();
    stdin.mockRestore();
  });
}

async function start(chosen: Partial<ChosenRoles> = {}) {
  const clock = new ManualClock();
  const roles = { roles: ['scheduler', 'worker'], by: 'roles: …', isNamed: false, ...chosen };
  const app = await Test.createTestingModule({
    providers: [
      ...[ScriptWatch, PodRoles, Telemetry],
      { provide: CLOCK, useValue: clock },
      { provide: CHOSEN_ROLES, useValue: roles },
    ],
  }).compile();
  const events = recordedEvents(app.get(Telemetry));
  await app.init();
  const begun = app.get(PodRoles);
  return { app, clock, begin: () => begun.begin(() => ({})), suspected: () => events.of('script.suspected') };
}

async function started(chosen: Partial<ChosenRoles> = {}) {
  const process = await start(chosen);
  await process.begin();
  await process.begin();
  return process;
}

describe('ScriptWatch', () => {
  it('suspects a process that closes by itself soon after its roles have started', async () => {
    const { app, clock, suspected } = await started();
    await clock.advance(3_000);
    await app.close();
    expect(suspected()).toEqual([{ roles: 'scheduler+worker', reason: 'closed-by-itself', upMs: 3_000 }]);
    expect(clock.pending).toBe(0);
  });

  it('takes a process for a service after ten minutes', async () => {
    const { app, clock, suspected } = await started();
    await clock.advance(10 * 60_000);
    await app.close();
    expect(suspected()).toEqual([]);
  });

  it('suspects a process into which keys are typed, as into a REPL, and does so once', async () => {
    typeInto(true);
    const { app, clock, suspected } = await started();
    await clock.advance(5_000);
    await app.close();
    expect(suspected()).toMatchObject([{ reason: 'interactive' }]);
  });

  it('does not suspect a service that runs at a terminal', async () => {
    typeInto(false);
    const { app, clock, suspected } = await started();
    await clock.advance(10 * 60_000);
    await app.close();
    expect(suspected()).toEqual([]);
  });

  it('does not suspect a process that could not start all of its roles', async () => {
    const { app, begin, suspected } = await start();
    await begin();
    await app.close();
    expect(suspected()).toEqual([]);
  });

  it.each<[string, Partial<ChosenRoles>]>([
    ['that the environment names', { isNamed: true }],
    ['that it does not have', { roles: [] }],
  ])('does not suspect a process for roles %s', async (_what, chosen) => {
    typeInto(true);
    const { app, clock, suspected } = await started(chosen);
    await clock.advance(5_000);
    await app.close();
    expect(suspected()).toEqual([]);
  });

  it('does not suspect a worker of a cluster, whose server its parent has opened', async () => {
    const { app, suspected } = await started();
    app.get(HttpAdapterHost).listening = true;
    await app.close();
    expect(suspected()).toEqual([]);
  });

  it('does not suspect a process with a server of whatever kind', async () => {
    typeInto(true);
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { app, clock, suspected } = await started();
    await clock.advance(5_000);
    await app.close();
    expect(suspected()).toEqual([]);
    server.close();
    await once(server, 'close');
  });
});
