import { describe, expect, it } from 'vitest';
import { parseFence } from '@fencepost/lease';
import { CLAIMED, claimOf, proof, RUN, Script } from './chaos-recording.js';
import { historiesOf } from './history.js';
import { checkLinearity } from './linearity.js';

function broken(script: Script): readonly string[] {
  return checkLinearity(historiesOf(script.recording.calls)).broken;
}

const CLAIMS = ['the claims of tick'];
const THE_RUN = [`the run ${RUN}`];

describe('the claims of a cron', () => {
  const first = () => new Script().claim(claimOf(5, null, 1_000), CLAIMED);

  it('follow one another, whoever claims', () => {
    const script = first()
      .claim(claimOf(5, 1_000, 2_000), { verdict: 'recorded' })
      .claim(claimOf(7, 2_000, 3_000), CLAIMED)
      .claim(claimOf(5, 2_000, 3_000), { verdict: 'stale', fence: parseFence('7') })
      .claim(claimOf(7, 2_000, 3_000), { verdict: 'moved', cursor: 3_000 });
    expect(broken(script)).toEqual([]);
  });

  it('can not both be accepted from the same cursor', () => {
    expect(broken(first().claim(claimOf(7, null, 1_000), CLAIMED))).toEqual([...CLAIMS, ...THE_RUN]);
  });

  it('are not accepted under a lower fence', () => {
    expect(broken(first().claim(claimOf(4, 1_000, 2_000), CLAIMED))).toEqual(CLAIMS);
  });

  it('are not refused for a fence that nobody has', () => {
    const script = first().claim(claimOf(5, 1_000, 2_000), { verdict: 'stale', fence: parseFence('9') });
    expect(broken(script)).toEqual(CLAIMS);
  });

  it('never find the cursor where it was before', () => {
    const script = first()
      .claim(claimOf(5, 1_000, 2_000), CLAIMED)
      .claim(claimOf(7, 3_000, 4_000), { verdict: 'moved', cursor: 1_000 });
    expect(broken(script)).toEqual(CLAIMS);
  });

  it('of a long night are as many as they are, and one that is wrong is found among them', () => {
    const script = first();
    for (let at = 1; at < 5_000; at += 1)
      script.claim(claimOf(5 + at, at * 1_000, (at + 1) * 1_000), { verdict: 'recorded' });
    expect(broken(script)).toEqual([]);
    expect(broken(script.claim(claimOf(6_000, 4_000, 5_000), { verdict: 'recorded' }))).toEqual(CLAIMS);
  });
});

describe('the attempts of a run', () => {
  const begun = () => new Script().claim(claimOf(5, null, 1_000), CLAIMED).attempt(10, 1);
  const succeed = [{ kind: 'succeeded' }] as const;
  const orphaned = () => begun().call('redeliver', [{ runId: RUN, delivery: 1 }, 'x'], { runId: RUN, delivery: 2 });

  it('take over from one that was lost, and refuse it from then on', () => {
    const script = orphaned()
      .attempt(20, 2)
      .call('finish', [proof(10), ...succeed], null)
      .call('finish', [proof(20), ...succeed], 'succeeded')
      .call('begin', [proof(30)], { verdict: 'terminal', state: 'succeeded' });
    expect(broken(script)).toEqual([]);
  });

  it('do not end a run that another one carries out', () => {
    expect(
      broken(
        begun()
          .attempt(20, 2)
          .call('finish', [proof(10), ...succeed], 'succeeded'),
      ),
    ).toEqual(THE_RUN);
  });

  it('are not refused while they are the current one', () => {
    expect(broken(begun().call('finish', [proof(10), ...succeed], null))).toEqual(THE_RUN);
  });

  it('have rising fences, and no number twice', () => {
    expect(broken(begun().attempt(9, 2))).toEqual(THE_RUN);
    expect(broken(begun().attempt(20, 1))).toEqual(THE_RUN);
  });

  it('may have begun with a job of which a worker never heard, and only if one asked and never heard', () => {
    const claimed = () => new Script().claim(claimOf(5, null, 1_000), CLAIMED);
    expect(broken(claimed().attempt(20, 2))).toEqual(THE_RUN);
    const unheard = claimed();
    unheard.begin('turn', []);
    expect(broken(unheard.attempt(20, 2))).toEqual([]);
    const heard = claimed().call('turn', [], null);
    expect(broken(heard.attempt(20, 2))).toEqual(THE_RUN);
  });

  it('never begin once the run is over', () => {
    const over = begun().call('finish', [proof(10), ...succeed], 'succeeded');
    expect(broken(over.attempt(20, 2))).toEqual(THE_RUN);
  });
});

describe('the effects of a run', () => {
  const begun = () => new Script().claim(claimOf(5, null, 1_000), CLAIMED).attempt(10, 1);
  const go = { verdict: 'go', unknown: null };
  const done = { kind: 'done', result: '1' };
  const pay = { name: 'pay', ifUnknown: 'tell' };
  const lost = () =>
    begun()
      .call('beginEffect', [proof(10), pay], go)
      .attempt(20, 2);

  it('are told to the next attempt when nobody knows of them, and a late word is kept', () => {
    const script = lost()
      .call('beginEffect', [proof(20), pay], { verdict: 'unknown', unknown: { since: 1 } })
      .call('finishEffect', [proof(10), 'pay', done], 'late')
      .call('beginEffect', [proof(20), pay], { verdict: 'done', result: '1' });
    expect(broken(script)).toEqual([]);
  });

  it('are not begun a second time as if they had never been', () => {
    expect(broken(lost().call('beginEffect', [proof(20), pay], go))).toEqual(THE_RUN);
  });

  it('are not begun by who has been replaced', () => {
    expect(broken(lost().call('beginEffect', [proof(10), pay], go))).toEqual(THE_RUN);
  });

  it('stay done', () => {
    const script = begun()
      .call('beginEffect', [proof(10), pay], go)
      .call('finishEffect', [proof(10), 'pay', done], 'recorded');
    expect(broken(script)).toEqual([]);
    expect(broken(script.call('beginEffect', [proof(10), pay], go))).toEqual(THE_RUN);
  });

  it('are recorded only by the current attempt', () => {
    expect(broken(lost().call('finishEffect', [proof(10), 'pay', done], 'recorded'))).toEqual(THE_RUN);
  });

  it('of a transaction commit once', () => {
    const committed = { verdict: 'done', result: '1' };
    const script = begun().call('transaction', [proof(10), { name: 'book' }], committed);
    expect(broken(script)).toEqual([]);
    expect(
      broken(
        begun()
          .attempt(20, 2)
          .call('transaction', [proof(10), { name: 'book' }], committed),
      ),
    ).toEqual(THE_RUN);
  });

  it('that a person has answered are not asked about again: an answer that a failover forgot is found', () => {
    const asked = begun()
      .call('beginEffect', [proof(10), pay], go)
      .call('finish', [proof(10), { kind: 'uncertain' }], 'uncertain')
      .call('resolve', [RUN, { answer: { verdict: 'done' } }], {
        verdict: 'resolved',
        state: 'enqueued',
        delivery: null,
      });
    expect(broken(asked)).toEqual([]);
    const forgotten = asked.call('begin', [proof(20)], { verdict: 'uncertain' });
    expect(broken(forgotten)).toEqual(THE_RUN);
    const { evidence } = checkLinearity(historiesOf(forgotten.recording.calls));
    expect(evidence.map(({ name, history }) => [name, history.length])).toEqual([[THE_RUN[0], 6]]);
  });
});
