import { ManualClock } from '@fencepost/lease/testing';
import type { DoctorFinding } from '@fencepost/operations';
import { beforeEach, describe, expect, it } from 'vitest';
import { TriageController } from './triage.controller.js';

let clock: ManualClock;
let asked: number;
let examinedAt: number;
let examine: () => Promise<DoctorFinding[]>;
let controller: TriageController;

const finding = (code: string): DoctorFinding => ({ code, level: 'bad', subject: 'x', text: 'y', todo: null });

beforeEach(() => {
  [clock, asked] = [new ManualClock(0), 0];
  examine = async () => [finding(`look ${asked}`)];
  const doctor = { examine: () => ((asked += 1), examine()) };
  const directory = {
    now: async () => clock.monotonic(),
    triage: async (findings: readonly DoctorFinding[], at: number) => {
      examinedAt = at;
      return findings.map(({ code }) => code);
    },
  };
  controller = Object.assign(new TriageController(), { clock, doctor, directory });
});

describe('the examination behind the triage', () => {
  it('is one for all that ask, and lasts ten seconds', async () => {
    expect(await Promise.all([controller.triage(), controller.triage()])).toEqual([['look 1'], ['look 1']]);
    await clock.advance(9_999);
    await controller.triage();
    expect(asked).toBe(1);
    await clock.advance(1);
    // Who asks does not wait for the next one.
    expect(await controller.triage()).toEqual(['look 1']);
    expect(await controller.triage()).toEqual(['look 2']);
  });

  it('takes at most a twentieth of the time', async () => {
    examine = async () => {
      await clock.advance(2_000);
      return [];
    };
    await controller.triage();
    expect(examinedAt).toBe(0);
    await clock.advance(39_999);
    await controller.triage();
    expect(asked).toBe(1);
    await clock.advance(1);
    await controller.triage();
    expect(asked).toBe(2);
  });

  it('is not shown to a visitor who comes later, and fails for whoever asks then', async () => {
    await controller.triage();
    examine = () => Promise.reject(new Error('The store is away.'));
    await clock.advance(15_000);
    expect(await controller.triage()).toEqual(['look 1']);
    await clock.advance(1);
    await expect(controller.triage()).rejects.toThrow('The store is away.');
  });
});
