/** A class with `@Module`, or what a `forRoot` returns. */
export type NestModule = object;

const METADATA = ['imports', 'providers', 'controllers', 'exports'] as const;

/** What each `JobsModule` brings along, and nobody else: a module of the user's may have the name `JobsModule` too. */
const OURS = 'JobsCoreModule';

export function isNestModule(value: unknown): value is NestModule {
  if (typeof value === 'function') return METADATA.some((key) => Reflect.hasMetadata(key, value));
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'module') === 'function';
}

/** Whether an application of it would be a scheduler or a worker of a real deployment. */
export async function declaresJobs(module: unknown, seen = new Set<unknown>()): Promise<boolean> {
  const own = forwarded(await module);
  if (!isNestModule(own) || seen.has(own)) return false;
  seen.add(own);
  const type: unknown = typeof own === 'function' ? own : Reflect.get(own, 'module');
  if (typeof type === 'function' && type.name === OURS) return true;
  for (const imported of [...importsOf(own), ...(type === own ? [] : [type])]) {
    if (await declaresJobs(imported, seen)) return true;
  }
  return false;
}

function importsOf(module: NestModule): unknown[] {
  const imports: unknown =
    typeof module === 'function' ? Reflect.getMetadata('imports', module) : Reflect.get(module, 'imports');
  return Array.isArray(imports) ? imports : [];
}

/** `forwardRef(() => Module)`. */
function forwarded(module: unknown): unknown {
  if (typeof module !== 'object' || module === null) return module;
  const refer: unknown = Reflect.get(module, 'forwardRef');
  return typeof refer === 'function' ? (refer as () => unknown)() : module;
}
