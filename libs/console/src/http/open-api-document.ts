import { readFileSync } from 'node:fs';

/** The text of `docs/openapi.json`, which `open-api.spec.ts` writes. The build puts it here: a package has no such folder. */
export function openApiDocument(): string {
  return readFileSync(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8');
}
