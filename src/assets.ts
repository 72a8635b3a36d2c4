/** A file of `assets/`. The path holds in `src/` and in the bundle's `dist/` alike. */
export function assetUrl(name: string): URL {
  return new URL(`../assets/${name}`, import.meta.url);
}
