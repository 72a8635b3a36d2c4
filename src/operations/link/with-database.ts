/** Returns a URL with another database, and everything else as it is. */
export function withDatabase(url: string, database: string): string {
  const encoded = encodeURIComponent(database);
  return url.replace(/^([^:/?#]*:\/\/[^/?#]*\/)[^?#]*/, (_, before: string) => before + encoded);
}
