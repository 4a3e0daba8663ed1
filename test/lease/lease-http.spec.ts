import 'reflect-metadata';
import { ConflictException, Controller, Get, Module, Post, UseGuards, type Type } from '@nestjs/common';
import { APP_FILTER, ExternalContextCreator, NestFactory } from '@nestjs/core';
import type { INestApplication } from '@nestjs/common';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ExpressAdapter } from '@nestjs/platform-express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LeaseLostError, Leases, systemClock } from '@fencepost/lease';
import { LeaseProblemFilter, fenceGuard } from '@fencepost/lease/http';
import { LeaseModule, WithLease } from '@fencepost/lease/nest';
import { MemoryFenceGate, fenceHeaders } from '@fencepost/lease/sinks';
import { MemoryLeaseStore } from '@fencepost/lease/testing';

const GATE = Symbol('gate');

@Controller()
class Orders {
  @Post('rebuild')
  @WithLease('rebuild', { wait: 0, ttl: '5s' })
  async rebuild() {
    return { state: 'rebuilt' };
  }

  @WithLease('rebuild', { busy: 'skip' })
  @Post('skipped')
  async skipped() {
    return { state: 'rebuilt' };
  }

  @Post('told')
  @WithLease('rebuild', { busy: ({ remainingMs }) => ({ state: 'running', remainingMs }) })
  async told() {
    return { state: 'rebuilt' };
  }

  @Post('refused')
  @WithLease('rebuild', {
    busy: () => {
      throw new ConflictException('Being rebuilt.');
    },
  })
  async refused() {
    return { state: 'rebuilt' };
  }

  @Get('lost')
  lost() {
    throw new LeaseLostError('rebuild', 'expired');
  }

  @Post('write')
  @UseGuards(fenceGuard(GATE))
  write() {
    return { state: 'written' };
  }
}

@Module({
  imports: [LeaseModule.forRoot({ store: new MemoryLeaseStore({ clock: systemClock }), log: false })],
  controllers: [Orders],
  providers: [
    { provide: APP_FILTER, useClass: LeaseProblemFilter },
    { provide: GATE, useFactory: () => new MemoryFenceGate() },
  ],
})
class Shop {}

describe.each([
  ['Express', ExpressAdapter],
  ['Fastify', FastifyAdapter],
] as [string, Type<ExpressAdapter | FastifyAdapter>][])('a controller on %s', (_name, Adapter) => {
  let app: INestApplication;
  let url: string;

  beforeAll(async () => {
    app = await NestFactory.create(Shop, new Adapter(), { logger: false });
    await app.listen(0, '127.0.0.1');
    url = await app.getUrl();
  });
  afterAll(() => app.close());

  async function post(path: string, headers: Record<string, string> = {}) {
    const response = await fetch(`${url}/${path}`, { method: 'POST', headers });
    return { response, status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  async function whileBusy<T>(work: () => Promise<T>): Promise<T> {
    return app.get(Leases).using('rebuild', { ttl: '7s' }, work);
  }

  it('answers 423 with Retry-After while another request has the lease, and no name of the resource', async () => {
    const { response, status, body } = await whileBusy(() => post('rebuild'));
    expect(status).toBe(423);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(Number(response.headers.get('retry-after'))).toBeOneOf([6, 7]);
    expect(body).toMatchObject({ status: 423, title: 'Locked', code: 'LEASE_BUSY' });
    expect(body['type']).toBe('https://fencepost.dev/problems/lease-busy');
    expect(JSON.stringify(body)).not.toContain('rebuild');
    expect(await post('rebuild')).toMatchObject({ status: 201, body: { state: 'rebuilt' } });
  });

  it('answers what the author chose', async () => {
    const told = await whileBusy(() => post('told'));
    expect(told).toMatchObject({ status: 201, body: { state: 'running', remainingMs: expect.any(Number) } });
    expect(await whileBusy(() => post('refused'))).toMatchObject({ status: 409, body: { message: 'Being rebuilt.' } });
    expect(await post('told')).toMatchObject({ body: { state: 'rebuilt' } });
  });

  it('never answers 200 to a request that it skips: such a route always fails, and says why', async () => {
    expect((await post('skipped')).status).toBe(500);
    const said = app.get(Orders).skipped();
    await expect(said).rejects.toThrow('Orders.skipped is a route: expected "wait" or a function in the option "busy"');
  });

  it('answers 503 where the lease was lost', async () => {
    const lost = await fetch(`${url}/lost`);
    expect(lost.status).toBe(503);
    expect(await lost.json()).toMatchObject({ code: 'LEASE_LOST', title: 'Interrupted' });
  });

  it('admits requests by their fence: 400 without one, 409 for a stale one', async () => {
    const as = (fence: number) => post('write', { ...fenceHeaders({ resource: 'order:7', fence: fence as never }) });
    expect(await post('write')).toMatchObject({ status: 400, body: { code: 'BAD_FENCE_HEADERS' } });
    expect(await as(8)).toMatchObject({ status: 201, body: { state: 'written' } });
    expect(await as(8)).toMatchObject({ status: 201 });
    expect(await as(7)).toMatchObject({ status: 409, body: { code: 'STALE_FENCE', title: 'Stale fence' } });
  });
});

it('outside of HTTP leaves the error to Nest', async () => {
  const app = await NestFactory.createApplicationContext(Shop, { logger: false });
  const orders = app.get(Orders);
  const lost = () => orders.lost();
  const unused = undefined;
  const call = app
    .get(ExternalContextCreator)
    .create(orders, lost, 'lost', unused, unused, unused, unused, unused, 'rpc');
  await expect(call()).rejects.toBeInstanceOf(LeaseLostError);
  await app.close();
});
