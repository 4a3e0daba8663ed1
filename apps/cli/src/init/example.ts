import type { SourceFile } from './source-file.js';

/** The example of the README: one cron, whose effects carry what their sinks need. */
const EXAMPLE = `import { Injectable } from '@nestjs/common';
import { SingletonCron, type RunContext } from '@fencepost/jobs';

const send = async (mail: object) => console.log(JSON.stringify(mail)); // your mail provider

@Injectable()
export class Reports {
  @SingletonCron('0 3 * * *', { name: 'nightly-report', timeZone: 'Europe/Berlin' })
  async nightly(run: RunContext): Promise<void> {
    const text = await run.effect('render', () => \`Report of \${run.scheduledAt.toISOString()}\`);
    await run.effect('send', ({ idempotencyKey, fence }) => send({ text, idempotencyKey, fence }));
  }
}
`;

/** In the quotes of the file that will import it. */
export function exampleFor({ quote, end }: Pick<SourceFile, 'quote' | 'end'>): string {
  const written = EXAMPLE.replaceAll("'", quote);
  return end === ';' ? written : written.replaceAll(/;( \/\/.*)?$/gm, '$1');
}
