import * as v from 'valibot';

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

/** The effect of a sanitization, in numbers: no sample of a value is stored. */
export const storedCoverage = v.object({
  columns: v.pipe(count, v.description('Columns that look like personal data.')),
  changed: count,
  kept: v.pipe(count, v.description('By a comment in the query.')),
  unchanged: v.pipe(
    v.array(v.string()),
    v.maxLength(1000),
    v.description('Columns with original values, `schema.table.column`; at most 1,000.'),
  ),
});

export type StoredCoverage = v.InferOutput<typeof storedCoverage>;
