export const LOAD_WAYS = [
  { label: 'A new database with only these', value: 'database' },
  { label: 'Only these rows', value: 'rows' },
];

export const LOAD_LINES = [
  'A new database: these tables, those that they require, and the others without rows.',
  'Only these rows: replaced in the present destination, which otherwise stays as it is.',
];
