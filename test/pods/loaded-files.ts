import { Session } from 'node:inspector';

/** Preloaded into a process: tells its parent, when asked, which files its modules were loaded from. */
process.on('message', () => {
  const files: string[] = [];
  const session = new Session();
  session.connect();
  session.on('Debugger.scriptParsed', ({ params: { url } }) => files.push(url));
  // Reports every script that was loaded so far.
  session.post('Debugger.enable', () => process.send?.(files.filter((url) => url.startsWith('file:'))));
});
