import { beforeEach, describe, expect, it } from 'vitest';
import type { DeclareReply } from '@fencepost/ledger/catalog';
import { recordedEvents, type RecordedEvents } from '../../../../test/support/recorded.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { DeclarationReport } from './worker-runner.js';

let events: RecordedEvents;
let news: DeclarationReport;
beforeEach(() => {
  const telemetry = new Telemetry();
  events = recordedEvents(telemetry);
  news = new DeclarationReport(telemetry, { seq: 7, source: 'mail' });
});

const reply = (over: Partial<DeclareReply>): DeclareReply => ({ changed: [], older: [], removed: [], ...over });

describe('what came of declaring', () => {
  it('is told once, and again when something changed by it', () => {
    for (let again = 0; again < 3; again += 1) news.report(reply({}), 2);
    expect(events.of('catalog.declared')).toEqual([{ declared: 2, changed: 0, older: 0 }]);
    news.report(reply({ changed: ['a'] }), 2);
    expect(events.of('catalog.declared')).toHaveLength(2);
    expect(events.of('catalog.redeclared')).toEqual([{ crons: ['a'], buildSeq: 7, app: 'mail' }]);
    expect(events.names).toHaveLength(3);
  });

  it('names the crons that a newer build has defined, again only when they are others', () => {
    for (let again = 0; again < 3; again += 1) news.report(reply({ older: ['b', 'a'] }), 3);
    news.report(reply({ older: ['a', 'b'] }), 3);
    expect(events.of('catalog.outdated-build')).toEqual([{ crons: ['b', 'a'], buildSeq: 7, app: 'mail' }]);
    news.report(reply({ older: ['a', 'b', 'c'] }), 3);
    expect(events.of('catalog.outdated-build')).toHaveLength(2);
  });

  it('names the crons that this build no longer has', () => {
    news.report(reply({ removed: ['old'] }), 1);
    news.report(reply({ removed: ['old'] }), 1);
    news.report(reply({}), 1);
    expect(events.of('catalog.removed')).toEqual([{ crons: ['old'], buildSeq: 7, app: 'mail' }]);
    // Brought back and removed again meanwhile.
    news.report(reply({ removed: ['old'] }), 1);
    expect(events.of('catalog.removed')).toHaveLength(2);
  });
});
