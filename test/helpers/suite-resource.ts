import { afterAll, beforeAll } from 'vitest';

type Resource = { stop(): Promise<unknown> } | AsyncDisposable;

/** A server, folder or other resource that exists while the tests of a suite run; later ones may use earlier ones. */
export function suiteResource<T extends Resource>(start: () => Promise<T>): T {
  let resource: T | undefined;
  const started = (): T => {
    if (!resource) throw new Error('The resource exists while the tests of the suite run, not while they are declared');
    return resource;
  };
  beforeAll(async () => {
    resource = await start();
  });
  afterAll(async () => {
    if (resource) await ('stop' in resource ? resource.stop() : resource[Symbol.asyncDispose]());
  });
  return new Proxy({} as T, {
    get: (_, key) => Reflect.get(started(), key),
    set: (_, key, value) => Reflect.set(started(), key, value),
  });
}
