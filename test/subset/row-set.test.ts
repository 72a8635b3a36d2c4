import { expect, it } from 'vitest';
import { createRowSet } from '../../src/subset/row-set.ts';
import { fc } from '../helpers/fast-check.ts';

const row = fc.oneof(fc.nat(200), fc.maxSafeNat());

it('is a set of numbers up to the largest, in their order', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), row)), (changes) => {
      const set = createRowSet();
      const known = new Set<number>();
      for (const [adds, number] of changes) {
        const isNew = adds !== known.has(number);
        if (adds) known.add(number);
        else known.delete(number);
        expect(adds ? set.add(number) : set.delete(number)).toBe(isNew);
      }
      expect([...set]).toEqual([...known].sort((a, b) => a - b));
      expect(set.size).toBe(known.size);
      expect(changes.every(([, number]) => set.has(number) === known.has(number))).toBe(true);
    }),
  );
});
