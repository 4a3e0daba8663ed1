import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the page was built to: from `src` and from `dist` the same way. */
export const PAGE_FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../../web/dist');

/** The page's own HTML, which every address of it begins with; `null` where it was not built. */
export function shellOfPage(): string | null {
  try {
    return readFileSync(join(PAGE_FOLDER, 'index.html'), 'utf8');
  } catch {
    return null;
  }
}
