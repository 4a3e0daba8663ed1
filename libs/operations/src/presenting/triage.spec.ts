import { describe, expect, it } from 'vitest';
import { HEALTH_STATES, type CronHealth } from '../operating/health-of.js';
import type { DoctorFinding } from '../operating/doctor-facts.js';
import { SCHEMAS } from './schemas.js';
import { triageOf, type TriageFacts } from './triage.js';

const NOW = Date.UTC(2026, 2, 2, 8);
const HISTORY = { marks: [], duration: null, startDelayP95Ms: null };

function cron(name: string, is: Partial<CronHealth> = {}) {
  const health: CronHealth = { state: 'healthy', since: null, failures: 0, text: '', ...is };
  return { name, health, history: health.state === 'unknown' ? null : HISTORY };
}

const finding = (code: string, level: DoctorFinding['level']): DoctorFinding => ({
  ...{ code, level, subject: 'x', text: `${code}.`, todo: null },
});

const triage = (over: Partial<TriageFacts>) =>
  triageOf({ now: NOW, crons: [], findings: [], examinedAt: null, troubleAt: null, ...over });

describe('the triage', () => {
  it('names what needs a person, the dangerous first, and nothing that does not', () => {
    const crons = HEALTH_STATES.map((state) => cron(state, { state }));
    const { items, ...rest } = triage({ crons });
    expect(items.map(({ kind }) => kind)).toEqual([
      'uncertain',
      'standstill',
      'failing',
      'missed',
      'no-worker',
      'late',
      'never-succeeded',
    ]);
    expect(rest).toMatchObject({ unread: 1, wellSince: null });
  });

  it('counts crons in the same state, and names five of them, the longest in it first', () => {
    const crons = Array.from({ length: 7 }, (_, n) => cron(`cron-${n}`, { state: 'failing', since: NOW - n }));
    const [item] = triage({ crons }).items;
    expect(item).toEqual({
      ...{ kind: 'failing', count: 7, crons: ['cron-6', 'cron-5', 'cron-4', 'cron-3', 'cron-2'] },
      ...{ text: '7 crons are failing.', code: null, danger: 'error' },
    });
  });

  it('has the findings of the doctor that matter, but for those that say of crons what is said already', () => {
    const findings = [
      finding('STORE_EVICTS', 'bad'),
      finding('FAILING', 'bad'),
      finding('PAUSED_LONG', 'note'),
      finding('LOOKED_AT', 'ok'),
    ];
    const codes = (crons: TriageFacts['crons']) =>
      triage({ crons, findings }).items.map(({ kind, code }) => code ?? kind);
    expect(codes([])).toEqual(['STORE_EVICTS', 'FAILING']);
    expect(codes([cron('a', { state: 'failing' }), cron('b', { state: 'late' })])).toEqual([
      'failing',
      'STORE_EVICTS',
      'late',
    ]);
  });

  it('says since when all is well, as far as that is known', () => {
    const crons = [
      cron('a', { since: NOW - 50 }),
      cron('b', { since: NOW - 90 }),
      cron('c', { state: 'paused', since: NOW }),
    ];
    const at = (ms: number) => new Date(ms).toISOString();
    expect(triage({ crons })).toMatchObject({ items: [], wellSince: at(NOW - 50) });
    expect(triage({ crons, troubleAt: NOW - 10 }).wellSince).toBe(at(NOW - 10));
    expect(triage({ crons: [...crons, cron('d', { state: 'unknown' })] }).wellSince).toBeNull();
    expect(triage({ crons: [cron('a')] }).wellSince).toBeNull();
  });

  it('is as its schema says', () => {
    const found = triage({
      crons: HEALTH_STATES.map((state) => cron(state, { state })),
      findings: [finding('X', 'warn')],
    });
    expect(SCHEMAS.Triage.parse(JSON.parse(JSON.stringify(found)))).toEqual(found);
  });
});
