import pMap, { pMapSkip } from 'p-map';

/**
 * Maps the items with bounded concurrency; results are in the items' order. After a failure no further item starts, and
 * the first failure is thrown when the active calls have ended: `pMap` alone would leave them running.
 */
export async function mapWithConcurrency<Item, Result>(
  items: Item[],
  concurrency: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const failures: unknown[] = [];
  const mapUnlessFailed = async (item: Item): Promise<Result | typeof pMapSkip> => {
    if (failures.length > 0) return pMapSkip;
    try {
      return await map(item);
    } catch (error) {
      failures.push(error);
      return pMapSkip;
    }
  };
  const results = await pMap(items, mapUnlessFailed, { concurrency });
  if (failures.length > 0) throw failures[0];
  return results;
}
