/** Read as statements; the lists of large objects hold numbers. */
const DEFINITIONS = /^(?:toc\.dat|definitions\.json|blobs(?:_\d+)?\.toc)$/;

/** Reports whether a file of a snapshot holds no data of rows or large objects. */
export function isDefinition(name: string): boolean {
  return DEFINITIONS.test(name);
}
