import { ExpressAdapter } from '@bull-board/express';

type Done = (error: unknown, html?: string) => void;
type Render = (path: string, words: object, done: Done) => void;

/** The little of the board's own Express that is used here; it has no types of its own. */
interface BoardApp {
  readonly engines: Readonly<Record<string, Render>>;
  engine(name: string, render: Render): void;
}

/** Its page has the fonts of somebody else in it, who would be told of everybody that looks at the board. */
const FROM_ELSEWHERE = /<link [^>]*href="https?:[^>]*>/g;

/** Bull Board as it comes, but its page asks nobody except the pod that serves it. */
export class BoardOfOurs extends ExpressAdapter {
  override setViewsPath(folder: string): this {
    super.setViewsPath(folder);
    const app = this.app as BoardApp;
    const render = app.engines['.ejs'];
    if (!render) throw new Error('Expected the board to render its page with ejs, it does so in another way.');
    app.engine('ejs', (path, words, done) =>
      render(path, words, (error, html) => done(error, html?.replaceAll(FROM_ELSEWHERE, ''))),
    );
    return this;
  }
}
