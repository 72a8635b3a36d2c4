export const LOAD_WAYS = [
  { label: 'A new database with only these', value: 'database' },
  { label: 'Only these rows', value: 'rows' },
];

export const LOAD_LINES = [
  'A new database has the tables that these require, and others without rows.',
  'Only these rows: they are replaced in the present destination, and nothing else is.',
];
