import { expect } from 'vitest';

/** A plan as another process would get it; fails where it holds what is not data: a function, a set, an open resource. */
export function asData<Plan>(plan: Plan): Plan {
  const copy = structuredClone(JSON.parse(JSON.stringify(plan)));
  expect(copy).toEqual(plan);
  return copy;
}
