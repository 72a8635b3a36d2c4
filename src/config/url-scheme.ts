/** Schemes of connection URLs, and the engine that each is for. */
const ENGINE_OF_SCHEME = new Map([
  ['postgres', 'postgres'],
  ['postgresql', 'postgres'],
  ['mysql', 'mysql'],
]);

/** The engine that a connection URL is for; `null` when its scheme says none. */
export function engineOfUrl(url: string): string | null {
  const scheme = /^([a-z]+):\/\//i.exec(url)?.[1]?.toLowerCase() ?? '';
  return ENGINE_OF_SCHEME.get(scheme) ?? null;
}

export function isConnectionUrl(value: string): boolean {
  return engineOfUrl(value) !== null;
}
