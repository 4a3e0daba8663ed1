import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../data/types.js';
import { acceptedFence, fencesText, stepText } from './refusal-words.js';

const RUN = { fence: '9' };

function refused(detail: Readonly<Record<string, unknown>>, event = 'attempt.refused'): JournalEntry {
  return {
    ...{ id: '1-0', at: '2026-11-21T03:00:00.000Z', pod: 'worker/a', role: 'worker', event, level: 'warn' },
    ...{ cron: 'a', runId: 'a@1', detail: { attempt: 1, fence: '7', step: 'finish', ...detail } },
  };
}

describe('a refused write', () => {
  it('is told with the step that it was refused at', () => {
    expect(stepText(refused({}))).toBe('Ending the attempt');
    expect(stepText(refused({ step: 'effect' }))).toBe('Beginning or recording an effect');
    expect(stepText(refused({ step: 'another' }))).toBe('A write');
    expect(stepText(refused({ effect: 'mail' }, 'effect.late'))).toBe('Recording the effect mail');
  });

  it('stands against the fence that the event names, or else against the one in force now, which is said', () => {
    expect(acceptedFence(refused({ accepted: '8' }), RUN)).toEqual({ fence: '8', now: false });
    expect(acceptedFence(refused({}), RUN)).toEqual({ fence: '9', now: true });
    expect(fencesText(refused({}), RUN)).toBe('fence 7 against 9, which is current');
  });

  it('of the latest attempt was refused for no larger fence, and none is named', () => {
    expect(acceptedFence(refused({ fence: '9' }), RUN)).toBeNull();
    expect(fencesText(refused({ fence: '9' }), RUN)).toContain('its run lease had expired or its run had ended');
  });
});
