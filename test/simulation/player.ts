import { play, type Ask } from './replay.js';
import { summaryOf } from './summary.js';

/** A process that plays worlds, one after the other, for the one that has forked it; it ends with that one. */
process.on('message', (ask: Ask) => {
  const before = process.cpuUsage();
  void play(ask).then((outcome) => {
    const { user, system } = process.cpuUsage(before);
    process.send?.({ summary: summaryOf(outcome), cpuMs: (user + system) / 1_000 });
  });
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
