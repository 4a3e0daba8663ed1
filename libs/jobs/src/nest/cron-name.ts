interface DecoratedClass {
  readonly name: string;
}

/**
 * Computes a name from the class of the provider, so that each subclass of a class with a decorated method has its own:
 * `(type) => type.name`, or `(type: typeof Sync) => type.cronName` with a static property. A bundler that minifies changes the
 * names of classes.
 */
export type NameOfClass = { of(type: DecoratedClass): string }['of'];

/** A name as it was written, for a provider of this class. */
export function nameFor(type: DecoratedClass, name: unknown): unknown {
  return typeof name === 'function' ? (name as NameOfClass)(type) : name;
}

/** The same for options with a `name`. */
export function optionsFor(type: DecoratedClass, options: unknown): unknown {
  if (typeof options !== 'object' || options === null || !('name' in options)) return options;
  return { ...options, name: nameFor(type, options.name) };
}
