/** Returns an object of the original's type: what `own` has is read from it, and all that is written goes there. */
export function standIn<T extends object>(original: T, own: object): T {
  return new Proxy(original, {
    has: (_, name) => name in own || name in original,
    get: (_, name) => Reflect.get(name in own ? own : original, name),
    set: (_, name, value) => Reflect.set(own, name, value),
  });
}
