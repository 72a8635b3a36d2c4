import { expect, test } from 'vitest';
import type { SchemaConfig } from '../../../../src/config/schema/settings.ts';
import { leftOutByBuild, selectSchemas } from '../../../../src/engines/postgres/catalog/schema-selection.ts';

const THERE = ['audit', 'billing', 'public'];

const CASES: { config: SchemaConfig | undefined; schemas: string[]; missing?: string[] }[] = [
  { config: undefined, schemas: ['public'] },
  { config: {}, schemas: ['public'] },
  { config: { use_default_schema: true }, schemas: ['public'] },
  { config: { use_default_schema: false }, schemas: THERE },
  { config: { include_schemas: ['billing', 'nowhere'] }, schemas: ['billing'], missing: ['nowhere'] },
  { config: { exclude_schemas: ['billing'] }, schemas: ['audit', 'public'] },
  { config: { exclude_schemas: ['nowhere'] }, schemas: THERE, missing: ['nowhere'] },
  { config: { include_schemas: ['audit'], exclude_schemas: ['billing'] }, schemas: ['audit'] },
  { config: { include_schemas: ['audit'], use_default_schema: true }, schemas: ['audit'] },
  { config: { include_schemas: [] }, schemas: ['public'] },
];

test.for(CASES)('$config takes $schemas', ({ config, schemas, missing = [] }) => {
  const selection = selectSchemas(THERE, config);
  expect(selection.schemas).toEqual(schemas);
  expect(selection.warnings.map(({ message }) => /"(.*?)"/.exec(message)?.[1])).toEqual(missing);
});

test('excluding schemas that the build left out is no error, recorded or not', () => {
  const exclude = { exclude_schemas: ['gone', 'audit'] };
  const warned = (details: Record<string, unknown>) =>
    selectSchemas(['public'], exclude, leftOutByBuild({ details }, exclude)).warnings.map(({ message }) => message);
  expect(warned({ left_out_schemas: [{ schema: 'audit', tables: 1 }] })).toEqual([expect.stringContaining('"gone"')]);
  expect(warned({})).toEqual([]);
  expect(warned({ left_out_schemas: 'audit' })).toEqual([]);
});
