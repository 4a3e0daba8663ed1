import type { Page, Request } from 'playwright-core';

/** What a page may not do: complain in the console, break its policy, or ask anybody but the pod it came from. */
export class Watched {
  /** In the order they came. */
  readonly complaints: string[] = [];
  readonly requests: string[] = [];

  constructor(page: Page, home: string) {
    page.on('console', (message) => message.type() === 'error' && this.complaints.push(message.text()));
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('request', (request) => this.#see(request, home));
    page.on('dialog', (dialog) => {
      this.complaints.push(`A dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  #see(request: Request, home: string): void {
    const url = new URL(request.url());
    if (url.origin === home) this.requests.push(`${request.method()} ${url.pathname}`);
    else if (url.protocol !== 'data:' && url.protocol !== 'blob:') this.complaints.push(`Asked ${url.href}`);
  }
}
