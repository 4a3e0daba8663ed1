import type { DynamicModule } from '@nestjs/common';

/** Makes a module once for each `JobsModule`: two that need it share it, and a pod does not write its journal twice. */
export function onePerJobs(make: (jobs: DynamicModule) => DynamicModule): (jobs: DynamicModule) => DynamicModule {
  const made = new WeakMap<DynamicModule, DynamicModule>();
  return (jobs) => {
    const module = made.get(jobs) ?? make(jobs);
    made.set(jobs, module);
    return module;
  };
}
